import Foundation
import ThumbnailCore

/// Finds the inputs of a conversion. Blocks; made for a single use on a thread of its own.
///
/// A folder's own files precede its subfolders, both sorted bytewise by name; folders reached by links come last. Every
/// folder is listed once, so cycles of links end.
struct InputFinder {
  private let options: FolderConverter.Options
  private let session: ConversionSession?
  private let cancelled: CancellationFlag
  private let pictureExtensions: Set<[UInt8]>
  /// The output folder, if it exists.
  private let output: (path: RawPath, state: FileState)?
  /// The folders of its copies of originals; nil until a link is found.
  private var copies: Set<FileState.ID>?
  /// The folder of these copies and those in which it lies; nil until a link is found.
  private var originalPlaces: Set<FileState.ID>?
  private var list: InputList
  /// The output folder and that of its copies of originals, and their disks.
  private lazy var places = [[], SiteNames.originals.dropLast()]
  private lazy var disks = Set(places.compactMap { (try? FileState(of: options.output.appending($0)))?.device })
  /// In these, once a folder of another disk is met.
  private lazy var marks = options.isDryRun ? [] : places.compactMap { FolderMark(options.output, $0) }
  /// The folders of files named individually, by their path, and the folders' `{path}`.
  private var fileFolders: [[UInt8]: (index: Int, isOwnOutput: Bool)] = [:]

  init(
    _ options: FolderConverter.Options, session: ConversionSession? = nil, cancelled: CancellationFlag
  ) {
    (self.options, self.session) = (options, session)
    self.cancelled = cancelled
    pictureExtensions = options.pictureExtensions
    list = InputList(InputSelection(options))
    output = options.output.resolved.flatMap { path in
      (try? FileState(of: path)).map { (path, $0) }
    }
  }

  /// Finds all inputs.
  ///
  /// - Throws: `.invalidOption` if an input is or lies in the output folder; `.cancelled`.
  mutating func run() throws(ConversionError) -> InputList {
    for input in options.inputs {
      switch input {
      case .path(let path): try take(path, listed: false)
      case .list(let path): try takeList(path)
      case .standardInput: try takeNames(.standardInput, of: RawPath("stdin"))
      }
    }
    return list
  }

  // MARK: Named inputs

  private mutating func takeList(_ path: RawPath) throws(ConversionError) {
    let descriptor = path.withCString { open($0, O_RDONLY | O_CLOEXEC) }
    guard descriptor >= 0 else {
      let reason = "the list cannot be read: \(SystemFailure.last.reason); check its path"
      return list.addProblem(path, .failed, code: "unreadable", reason)
    }
    try takeNames(FileDescriptor(owning: descriptor), of: path)
  }

  private mutating func takeNames(_ file: FileDescriptor, of path: RawPath) throws(ConversionError) {
    var reader = LineReader(file, terminator: options.listsAreNullSeparated ? .zero : .lineFeed)
    while !cancelled.isSet {
      // A short patience, so that a cancellation need not wait for the writer of a pipe.
      switch reader.next(patience: 100) {
      case .line(.text(let name, _)): if !name.isEmpty { try take(RawPath(bytes: name), listed: true) }
      case .line(.overlong(let number)):
        list.addProblem(
          RawPath("\(path), line \(number)"), .failed, code: "name-too-long",
          "the name is too long; rename the file"
            + (options.listsAreNullSeparated ? "" : ", or if zero bytes end the names, say so (listsAreNullSeparated)"))
      case .part, .idle: break
      case .end: return
      case .failure(let failure):
        return list.addProblem(path, .failed, code: "unreadable", "the list cannot be read: \(failure.reason)")
      }
    }
    throw .cancelled
  }

  /// Adds a named file or folder; one from a list keeps the folders in its path.
  private mutating func take(_ path: RawPath, listed: Bool) throws(ConversionError) {
    if path.bytes.contains(0) {
      return list.addProblem(
        RawPath(bytes: path.bytes.filter { $0 != 0 }), .failed, code: "name-unusable",
        "the name holds a zero byte; if zero bytes end the names, say so (listsAreNullSeparated)")
    }
    // One alone may have the name of what is left out in it.
    if listed || options.inputs.count > 1, list.selection.leavesOut(named: path, isListed: listed) {
      _ = leaveOut(RawPath(bytes: Self.withSlash(Self.absoluteFolder(of: path).bytes) + path.name))
      return
    }
    // Names from a list are examined only if they could be folders: a file is examined later, when it is checked.
    let state: FileState
    do throws(SystemFailure) {
      state = try FileState(of: path)
    } catch {
      let message = error.code == ENOENT ? "no such file or folder; check its path" : error.reason
      return list.addProblem(path, .failed, code: error.code == ENOENT ? "not-found" : "unreadable", message)
    }
    switch state.kind {
    case .folder: try takeFolder(path, listed: listed)
    case .regular: takeFile(path, listed: listed)
    default:
      list.addProblem(path, .failed, code: "not-a-file", "neither a file nor a folder; name the file itself")
    }
  }

  private mutating func takeFolder(_ path: RawPath, listed: Bool) throws(ConversionError) {
    let absolute = path.resolved ?? path
    if let output, absolute.places.contains(output.state.id) || isInOutput(absolute) {
      if listed {
        return list.addProblem(path, .skipped, code: "own-output", "it lies in the output folder")
      }
      throw .invalidOption(
        reason: absolute == output.path
          ? "\(path) is the output folder, too: its thumbnails would be converted, too; choose another output folder"
          : "\(path) lies in the output folder, whose thumbnails are not converted; choose another output folder")
    }
    var prefix: [UInt8] = []
    if listed { prefix = Self.keptFolders(path.bytes) }
    let opened = Self.withSlash(path.bytes)
    list.selection.enter(absolute)
    let folder = options.followsLinks ? nil : try? RootFolder(path)
    let root = list.addRoot(
      .init(path: opened, absolute: Self.withSlash(absolute.bytes), prefix: prefix, isListed: true, folder: folder))
    // A folder may be listed again for another input, where its thumbnails may have other names.
    var walk = DirectoryWalk(of: RawPath(bytes: opened), followsLinks: options.followsLinks)
    var hasMore = true
    while hasMore {
      if cancelled.isSet { throw .cancelled }
      let first = list.count
      var index: Int?
      hasMore = walk.listNext { folder, event in take(event, of: folder, root, &index) }
      list.sort(from: first)
    }
  }

  private mutating func takeFile(_ path: RawPath, listed: Bool) {
    if list.selection.leavesOut(path.bytes, isFolder: false) { return }
    let written = Array(path.folder)
    let folder = fileFolders[written] ?? addFileFolder(written, listed: listed)
    fileFolders[written] = folder
    list.add(path.name, kind: folder.isOwnOutput ? .ownOutput : .picture, in: folder.index)
  }

  private mutating func addFileFolder(_ written: [UInt8], listed: Bool) -> (index: Int, isOwnOutput: Bool) {
    let absolute = Self.absoluteFolder(of: RawPath(bytes: written))
    let isOwnOutput = output.map { absolute.places.contains($0.state.id) } == true || isInOutput(absolute)
    if !isOwnOutput, let state = try? FileState(of: absolute) { list.folderIDs.insert(state.id) }
    let prefix = listed ? Self.keptFolders(written) : []
    let root = list.addRoot(.init(path: written, absolute: Self.withSlash(absolute.bytes), prefix: prefix))
    return (list.addFolder([], of: root), isOwnOutput)
  }

  /// The folders of a path that the output keeps, without those that lead upwards or to the root.
  private static func keptFolders(_ path: [UInt8]) -> [UInt8] {
    let dot = UInt8(ascii: ".")
    let parts = path.split(separator: RawPath.slash).filter {
      !$0.elementsEqual([dot]) && !$0.elementsEqual([dot, dot])
    }
    return parts.flatMap { Array($0) + [RawPath.slash] }
  }

  private static func withSlash(_ path: [UInt8]) -> [UInt8] {
    path.last == RawPath.slash ? path : path + [RawPath.slash]
  }

  // MARK: Folders

  /// Adds a folder or an entry. Returns whether to list it.
  ///
  /// - Parameter index: The folder's index in the list, once it is opened.
  private mutating func take(
    _ event: DirectoryWalk.Event, of folder: DirectoryWalk.Folder, _ root: Int, _ index: inout Int?
  ) -> Bool {
    switch event {
    case .opened(let state):
      // The run's own thumbnails are not inputs.
      if isOutput(state) || isMarked(folder.opened, state) || folder.isPassedOver { return false }
      session?.willList(folder.opened)
      list.folderIDs.insert(state.id)
      index = list.addFolder(folder.path, of: root)
      return true
    case .entry(let entry): return index.map { take(entry, of: folder, root, $0) } ?? false
    case .repeated(let state):
      if isOutput(state) { return false }
      list.addProblem(folder.opened, .skipped, code: "loop", "a link to a folder that is listed already")
    case .unreadable(let failure): addUnreadable(folder, root, "the folder cannot be read: \(failure.reason)")
    case .incomplete(let failure):
      addUnreadable(folder, root, "the rest of the folder cannot be read: \(failure.reason)")
    }
    return false
  }

  private mutating func addUnreadable(_ folder: DirectoryWalk.Folder, _ root: Int, _ message: String) {
    list.unlisted.append(list.absolutePath(folder.path, of: root))
    list.mayMissLinks = true
    list.addProblem(folder.opened, .failed, code: "unreadable", message, isFolder: !folder.path.isEmpty)
  }

  /// A folder and all in it.
  static func folders(in path: RawPath) -> Set<FileState.ID> {
    var found: Set<FileState.ID> = []
    func add(_ path: RawPath) {
      guard let folder = try? RootFolder(path), let state = try? FileState(of: path), found.insert(state.id).inserted
      else { return }
      for name in folder.names(in: []) ?? [] where folder.state(of: name)?.kind == .folder { add(path.appending(name)) }
    }
    add(path)
    return found
  }

  private mutating func take(
    _ entry: DirectoryWalk.Entry, of folder: DirectoryWalk.Folder, _ root: Int, _ index: Int
  ) -> Bool {
    let path = folder.path + entry.name
    if entry.isHidden { return leaveOut(list.absolutePath(path, of: root)) }
    let target = entry.isLink && output != nil ? folder.opened.appending(entry.name).resolved : nil
    if entry.isLink, target == nil { list.mayMissLinks = true }
    if let output, let target, let place = try? FileState(of: target) {
      // The same disk may be seen through a program, such as a pool's, with other numbers.
      if place.device != output.state.device, target.isInUserSpace || output.path.isInUserSpace {
        list.mayMissLinks = true
      }
      let originals = output.path.appending(SiteNames.originals.dropLast())
      let above = originalPlaces ?? Set(originals.places)
      originalPlaces = above
      // One to the whole folder is a way to look at it.
      if !above.contains(place.id) {
        list.linkedOutputs.insert(place.id)
        // Some programs that show disks number files anew.
        if target.isWithin(output.path) { list.linkedPaths.append(target) }
        if place.kind == .folder, !list.folderIDs.contains(place.id) {
          copies = copies ?? Self.folders(in: originals)
          if copies?.contains(place.id) == true { list.folderIDs.formUnion(Self.folders(in: target)) }
        }
      }
    }
    if session?.isUnfinished(Self.withSlash(folder.opened.bytes) + entry.name) == true {
      list.unlisted.append(list.absolutePath(path, of: root))
      return false
    }
    // An entry that cannot be examined is kept, and fails when it is checked.
    let kind = (try? entry.kind.get()) ?? .regular
    if list.selection.leavesOut(path, isFolder: kind == .folder) {
      return list.selection.excludes(path) && leaveOut(list.absolutePath(path, of: root))
    }
    switch kind {
    case .folder:
      // A link may point into the output folder.
      guard entry.isLink, let output else { return true }
      return folder.opened.appending(entry.name).resolved.map { !$0.places.contains(output.state.id) } ?? true
    case .regular:
      list.add(entry.name, kind: self.kind(byName: entry.name), in: index)
    case .link:
      // A link that leads nowhere fails as a picture, whether links are followed or not, so that it is reported.
      let isBroken = (try? FileState(of: folder.opened.appending(entry.name))) == nil
      let isPicture = self.kind(byName: entry.name) == .picture
      list.add(entry.name, kind: isBroken && isPicture ? .picture : .link, in: index)
    case .other: list.add(entry.name, kind: .special, in: index)
    }
    return false
  }

  /// A picture in two files is left out with its JPEG.
  private mutating func leaveOut(_ path: RawPath) -> Bool {
    if options.pairing == .preferJPEG { list.jpegs.add(path) }
    return false
  }

  private static func absoluteFolder(of path: RawPath) -> RawPath {
    let folder = path.folder.isEmpty ? RawPath(".") : RawPath(bytes: Array(path.folder))
    return folder.resolved ?? folder
  }

  private func isOutput(_ folder: FileState) -> Bool { output?.state.isSameFile(as: folder) ?? false }

  /// Whether a folder is the output folder or that of its copies, seen by a mount that numbers files anew.
  private mutating func isMarked(_ folder: RawPath, _ state: FileState) -> Bool {
    output != nil && disks.contains { $0 != state.device } && marks.contains { $0.isIn(folder) }
  }

  /// Whether a folder, or one in which it lies, is such a one.
  private mutating func isInOutput(_ folder: RawPath) -> Bool {
    sequence(first: folder) { $0.bytes.isEmpty ? nil : RawPath(bytes: $0.folder.dropLast()) }.contains { place in
      (try? FileState(of: place)).map { isMarked(place, $0) } == true
    }
  }

  /// The kind of a file by its name; a file that the user's patterns include is a picture.
  private func kind(byName name: UnsafeBufferPointer<UInt8>) -> InputList.Kind {
    if !options.include.isEmpty { return .picture }
    guard let end = Self.end(of: name) else { return .otherName }
    if pictureExtensions.contains(end) { return .picture }
    return Self.videoExtensions.contains(end) ? .video : .otherName
  }

  /// The extension in lower case; nil if there is none, or a longer one than any format has.
  private static func end(of name: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0, name.count - dot <= 6 else { return nil }
    return name[(dot + 1)...].lowercasedASCII
  }

  /// The extensions of videos, in lower case. A Live Photo is a picture and a `mov`.
  private static let videoExtensions = Set(RawPath.filmExtensions.map { Array($0.utf8) })
}

/// A file that is in a folder for the moment, by whose name the folder is known whatever its number is.
private final class FolderMark {
  private let file: NewFile

  /// Nil where no file can be made, and where a link leads.
  init?(_ output: RawPath, _ relative: [UInt8]) {
    guard let root = try? RootFolder(output), let place = try? root.folder(relative),
      let file = try? RootFolder.newFile("mark".utf8, in: place, isNamed: true)
    else { return nil }
    self.file = file
  }

  /// Whether it is in a folder.
  func isIn(_ folder: RawPath) -> Bool {
    file.temporary.map { (try? FileState(of: folder.appending($0.name))) != nil } ?? false
  }
}
