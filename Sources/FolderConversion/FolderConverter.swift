// The module FolderConversion: converts folders of images, and later only the changed ones.

import Exports
import Foundation
import Synchronization
public import ThumbnailCore

/// Converts files and whole folders to thumbnails in an output folder.
///
/// Up-to-date thumbnails are kept, so an interrupted run can be resumed. Thumbnails are renamed to their final names
/// only when complete.
///
///     var options = FolderConverter.Options(inputs: [.path("photos")], output: "small")
///     options.sizes = [TargetSize(PixelSize(400, 400))]
///     let conversion = try await FolderConverter(options).start()
///     for await result in conversion { print(result.source, result.status) }
///     let summary = await conversion.finish()
public struct FolderConverter: Sendable {
  /// An input.
  public enum Input: Hashable, Sendable {
    /// A file, or a folder with its content.
    case path(RawPath)
    /// A file that lists names of files and folders, terminated by line feeds or zero bytes.
    case list(RawPath)
    /// A list of names on the standard input, terminated by line feeds or zero bytes.
    case standardInput

    /// The file or folder at this path.
    public static func path(_ text: String) -> Input { .path(RawPath(text)) }
  }

  /// The options.
  public let options: Options

  /// A converter with these options. Nothing happens before `start()`.
  public init(_ options: Options) { self.options = options }

  /// Finds all inputs, resolves name collisions, and locks the output folder.
  ///
  /// Nothing is written before that has succeeded but the output folder, if it is missing, and no image is read. Listing
  /// takes about a microsecond for each file.
  ///
  /// - Throws: `ConversionError`, with nothing written.
  public func start() async throws(ConversionError) -> Conversion {
    if let problem = options.problem { throw .invalidOption(reason: problem) }
    let session = try await ConversionSession(options)
    do throws(ConversionError) {
      let conversion = try await session.conversion(of: nil)
      try await conversion.markSite()
      return conversion
    } catch {
      await session.finish()
      throw error
    }
  }
}

/// The plan of a run, complete before anything is written: its inputs, and the names of their thumbnails.
final class ConversionPlan: Sendable {
  let options: FolderConverter.Options
  let list: InputList
  let names: OutputNames
  let claims: NameResolution
  let unusedPatterns: [InputSelection.Unused]
  /// Changes with everything that affects the thumbnails: see `Options.token`.
  private let token: String

  /// Finds the inputs and resolves name collisions. Blocks.
  ///
  /// - Parameter session: Has the index of the output folder, and learns of the folders that are listed.
  init(
    _ options: FolderConverter.Options, session: ConversionSession, cancelled: CancellationFlag
  ) throws(ConversionError) {
    self.options = options
    var finder = InputFinder(options, session: session, cancelled: cancelled)
    var list = try finder.run()
    if options.site != nil, case let unlisted = list.unlisted, !unlisted.isEmpty {
      list.addUnlisted(session.index.sources { source in unlisted.contains { source.isWithin($0) } })
    }
    unusedPatterns = list.selection.unusedPatterns(list.unlisted)
    // Sites are published.
    if options.site != nil, list.count > 0, let mistake = unusedPatterns.first(where: \.isMistake) {
      throw .invalidOption(reason: mistake.message)
    }
    if options.pairing == .preferJPEG { list.leaveOutPaired() }
    names = OutputNames(options)
    if names.template.usesDate || options.site != nil { list.readDates(cancelled: cancelled) }
    claims = try NameResolution(names, &list, published: session.index, cancelled: cancelled)
    self.list = list
    token = options.token
  }

  private let inputs = Mutex<Set<FileState.ID>?>(nil)

  /// Whether a file or folder is one of the inputs, or was listed for them, by whatever path.
  func isInput(_ file: FileState) -> Bool {
    if file.kind == .folder { return list.folderIDs.contains(file.id) }
    return inputs.withLock { inputs in
      if inputs == nil {
        let others = (0..<list.count).filter { list.kind(at: $0) != .ownOutput }
        inputs = Set(
          others.lazy.filter { !self.isLinkToOutput($0) }.compactMap { try? FileState(of: self.list.path(at: $0)).id })
        for case .list(let path) in options.inputs {
          if let file = try? FileState(of: path) { inputs?.insert(file.id) }
        }
        if options.inputs.contains(.standardInput), let input = try? FileState(ofOpen: STDIN_FILENO) {
          inputs?.insert(input.id)
        }
      }
      return inputs?.contains(file.id) == true
    }
  }

  /// Whether an entry is a link to what a run writes, but for copies of originals: they may be all that is left.
  private func isLinkToOutput(_ index: Int) -> Bool {
    guard list.kind(at: index) == .link, let target = list.path(at: index).resolved,
      let output = try? FileState(of: options.output), target.places.contains(output.id)
    else { return false }
    let copies = copies.value { InputFinder.folders(in: options.output.appending(SiteNames.originals.dropLast())) }
    return (try? FileState(of: RawPath(bytes: target.folder))).map { !copies.contains($0.id) } ?? false
  }

  private let copies = Memo<Set<FileState.ID>>()
  private let knownPaths = Memo<Set<UInt64>>()

  /// See `InputList.listed`.
  var listed: Set<UInt64> { knownPaths.value { list.listed } }

  /// The key of an input's entry: that of its names or, where another's entry has that, its own.
  func key(
    of index: Int, _ planned: [[UInt8]], _ state: @autoclosure () -> FileState?, in published: ConversionIndex
  ) -> UInt64 {
    let source = list.absolutePath(at: index)
    if let entry = published.entry(planned, of: source) { return entry.key }
    let key = OutputNames.key(planned)
    guard let other = published.entry(key), isOthers(other, than: source, state()) else { return key }
    return OutputNames.key(planned + [source.bytes])
  }

  /// Whether an entry is of another picture, whose thumbnails keep their names: one that is there or may be away, and
  /// no input whose names are decided now. A picture that was moved or copied, or is seen by another path, is none.
  func isOthers(_ other: IndexEntry, than source: RawPath, _ state: FileState?) -> Bool {
    if options.site != nil || other.source == source { return false }
    let isAlike = state.map { (other.modified, other.byteCount) == ($0.modified, $0.byteCount) } ?? false
    if other.source.isGone { return !isAlike && other.source.mayBeAway(since: other.disk) }
    if listed.contains(NamingTemplate.seededHash(other.source.bytes)) { return false }
    guard let (there, own) = try? (RootFolder.file(at: other.source), RootFolder.file(at: source)) else { return true }
    return !own.state.isSameFile(as: there.state) && !(isAlike && (try? RootFolder.areSameBytes(there, own)) == true)
  }

  private let disks = Mutex<[UInt64: UInt64]>([:])

  /// The number of an input's file system.
  func disk(of index: Int, _ state: FileState) -> UInt64 {
    disks.withLock { disks in
      let disk = disks[state.device] ?? list.path(at: index).disk ?? state.device
      disks[state.device] = disk
      return disk
    }
  }

  /// The number of results: inputs, and entries that could not be listed.
  var count: Int { list.count + list.problems.count }

  /// The token that a current entry of this input has in the index.
  func token(of index: Int, isDamaged: Bool) -> String {
    IndexEntry.token(token, isDamaged: isDamaged, isToldApart: list.isToldApart(at: index))
  }

  /// The result of an input.
  func result(
    of index: Int, _ status: ConversionResult.Status, outputs: [ConversionOutput] = [],
    failure: ConversionFailure? = nil, plan: String? = nil, preview: UsedPreview? = nil,
    duration: Duration = .zero
  ) -> ConversionResult {
    ConversionResult(
      source: list.path(at: index), status: status, outputs: outputs, failure: failure, plan: plan,
      preview: preview, duration: duration, isToldApart: !outputs.isEmpty && list.isToldApart(at: index))
  }
}
