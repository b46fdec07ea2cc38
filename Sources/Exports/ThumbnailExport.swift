import Foundation
import Synchronization
public import ThumbnailCore

/// Writes thumbnails as files into a folder, each as a whole or not at all, under names that a template gives them.
///
/// A file that is there already is left as it is, unless `overwrites` says otherwise; one that holds just these bytes is
/// fine either way, so the same export can be run again. Two pictures of one name never share a file: the second gets a
/// few digits of its own behind the name, the same in every run.
public final class ThumbnailExport: Sendable {
  /// What became of one thumbnail.
  public enum Outcome: Sendable, Equatable {
    /// It was written.
    case written(path: String)
    /// The file was there already, with these bytes.
    case unchanged(path: String)
    /// The file was there already with others, and was left.
    case kept(path: String)
  }

  private struct State {
    /// The pictures that have taken names, by digests of both: a million names take some 30 MB.
    var owners: [UInt64: UInt64] = [:]
    var temporaryNumber = 0
  }

  /// The longest name that file systems take, in bytes.
  private static let longestName = 255

  /// The folder.
  public let folder: String
  private let root: RawPath
  private let template: NamingTemplate
  private let overwrites: Bool
  private let state = Mutex(State())
  private let pool = WorkerPool(name: "thumbnailer.export", threads: 1)

  /// Makes the folder where it is missing.
  ///
  /// - Parameters:
  ///   - folder: Where the files go.
  ///   - name: How they are called; nil keeps the tree of their source, with the size in the names where there are
  ///     several.
  ///   - sizeCount: The number of thumbnails of each picture.
  ///   - overwrites: Whether files that are there are replaced.
  /// - Throws: When there is no such folder and none can be made, or nothing can be written to it.
  public init(
    folder: String, name: NamingTemplate? = nil, sizeCount: Int, overwrites: Bool = false
  ) throws(ExportError) {
    self.folder = folder
    self.overwrites = overwrites
    root = RawPath(folder)
    template = name ?? .standard(sizeCount: sizeCount)
    do throws(SystemFailure) {
      try NewFile.makeFolders(root)
      guard root.withCString({ access($0, W_OK | X_OK) }) == 0 else { throw .last }
    } catch {
      throw ExportError(path: folder, reason: error.reason)
    }
  }

  /// Writes a thumbnail of `picture`, which was made for a box of `size`.
  ///
  /// - Throws: When it cannot be written; nothing of it is there then.
  public func add(
    _ thumbnail: Thumbnail, of picture: PictureName, size: PixelSize
  ) async throws(ExportError) -> Outcome {
    let planned = path(of: picture, size: size, format: thumbnail.format)
    // To its end, even in a task that is cancelled: what is made is kept.
    let result = await Task { [self] in
      try? await pool.run(priority: PriorityControl(.visible)) { [self] _ in
        Result { () throws(ExportError) in try place(thumbnail.data, at: planned, of: picture) }
      }
    }.value
    guard let result else { throw ExportError(path: folder, reason: "the work was given up") }
    return try result.get()
  }

  /// The path below the folder. Where the template makes none of the picture's name, its digest takes the place of it.
  private func path(of picture: PictureName, size: PixelSize, format: ImageFormat) -> [UInt8] {
    let source = picture.templateSource
    let end = Array(format.fileExtension.utf8)
    let path =
      template.path(for: source, size: TargetSize(size), ext: end)
      ?? Array("\(NamingTemplate.hash(source.absolutePath))-\(size).\(format.fileExtension)".utf8)
    return Array(
      path.split(separator: RawPath.slash)
        .map { PictureName.shortened(Array($0), to: Self.longestName, mark: picture.mark) }
        .joined(separator: [RawPath.slash]))
  }

  private func place(
    _ data: Data, at planned: [UInt8], of picture: PictureName
  ) throws(ExportError) -> Outcome {
    let owner = Self.number(Array(picture.identity.utf8))
    let marked = Self.marked(planned, with: picture.mark)
    // A marked file is there when another picture had taken the name in an earlier run, too.
    let isMarked = isTaken(planned, by: owner) || (try? FileState(of: root.appending(marked))) != nil
    let path = isMarked ? marked : planned
    state.withLock { $0.owners[Self.number(path)] = owner }
    let target = root.appending(path)
    do throws(SystemFailure) {
      return try write(data, to: target)
    } catch {
      throw ExportError(path: target.description, error)
    }
  }

  private func isTaken(_ path: [UInt8], by owner: UInt64) -> Bool {
    state.withLock { $0.owners[Self.number(path)].map { $0 != owner } ?? false }
  }

  private func write(_ data: Data, to target: RawPath) throws(SystemFailure) -> Outcome {
    let shown = target.description
    if let existing = try? FileState(of: target) {
      if Self.holds(target, data) { return .unchanged(path: shown) }
      if !overwrites || existing.kind != .regular { return .kept(path: shown) }
    }
    let folder = RawPath(bytes: target.folder)
    try NewFile.makeFolders(folder)
    let temporary = folder.appending(temporaryName())
    let descriptor = temporary.withCString { open($0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666) }
    guard descriptor >= 0 else { throw .last }
    defer { _ = temporary.withCString { unlink($0) } }
    do {
      defer { close(descriptor) }
      try NewFile.write(data, to: descriptor)
    }
    if try name(temporary, target) { return .written(path: shown) }
    // Another run that exports the same may have been quicker.
    return Self.holds(target, data) ? .unchanged(path: shown) : .kept(path: shown)
  }

  /// Gives a finished file its name. False when somebody else has taken it meanwhile and it is not to be overwritten.
  private func name(_ temporary: RawPath, _ target: RawPath) throws(SystemFailure) -> Bool {
    if !overwrites {
      if temporary.withCString({ from in target.withCString { link(from, $0) } }) == 0 { return true }
      if errno == EEXIST { return false }
      // Some file systems have no second names for a file; there a moment remains in which another may come in between.
      guard [EPERM, EOPNOTSUPP, ENOSYS, EMLINK].contains(errno) else { throw .last }
    }
    guard temporary.withCString({ from in target.withCString { rename(from, $0) } }) == 0 else { throw .last }
    return true
  }

  /// A name that no other process and no other export of this one uses at the same time.
  private func temporaryName() -> [UInt8] {
    let number = state.withLock { state in
      state.temporaryNumber += 1
      return state.temporaryNumber
    }
    let digits = String(UInt64.random(in: .min ... .max), radix: 16)
    return NamingTemplate.reservedPrefix + Array("\(getpid())-\(number)-\(digits).tmp".utf8)
  }

  /// Whether there is a file that holds just these bytes.
  private static func holds(_ path: RawPath, _ data: Data) -> Bool {
    guard let state = try? FileState(of: path), state.kind == .regular, state.byteCount == data.count else {
      return false
    }
    let descriptor = path.withCString { open($0, O_RDONLY | O_CLOEXEC) }
    guard descriptor >= 0 else { return false }
    let file = FileDescriptor(owning: descriptor)
    return (try? ByteSource.file(file, count: data.count).read(at: 0, length: data.count)) == Array(data)
  }

  /// The path with a mark behind the name.
  private static func marked(_ path: [UInt8], with mark: [UInt8]) -> [UInt8] {
    let (folder, name) = (RawPath(bytes: path).folder, RawPath(bytes: path).name)
    let (stem, end) = (NamingTemplate.stem(name), NamingTemplate.end(name))
    let room = longestName - mark.count - 1 - (end.isEmpty ? 0 : end.count + 1)
    let marked = stem.prefix(room) + [UInt8(ascii: "-")] + mark
    return Array(folder) + marked + (end.isEmpty ? [] : [UInt8(ascii: ".")] + end)
  }

  /// A number for bytes that strangers cannot foresee, so that no names can be made to seem one.
  private static func number(_ bytes: [UInt8]) -> UInt64 {
    var hasher = Hasher()
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }
}
