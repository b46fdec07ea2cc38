import Foundation
import ThumbnailCore

/// Finds the inputs of a conversion. Blocks; made for a single use on a thread of its own.
///
/// A folder's own files precede its subfolders, both sorted bytewise by name; folders reached by links come last. Every
/// folder is listed once, so cycles of links end.
struct InputFinder {
  private struct FolderID: Hashable {
    let device: UInt64
    let inode: UInt64

    init(_ state: FileState) { (device, inode) = (state.device, state.inode) }
  }

  private struct PendingFolder {
    let root: Int
    let rootPath: [UInt8]
    let path: [UInt8]

    /// The path to open. Empty paths stand for the working directory.
    var opened: RawPath { rootPath.isEmpty && path.isEmpty ? RawPath(".") : RawPath(bytes: rootPath + path) }
  }

  private let options: FolderConverter.Options
  private let cancelled: CancellationFlag
  private let pictureExtensions: Set<[UInt8]>
  /// The output folder, if it exists.
  private let output: (path: RawPath, id: FolderID)?
  private var list = InputList()
  private var visited: Set<FolderID> = []
  private var pending: [PendingFolder] = []
  private var linked: [PendingFolder] = []
  /// The folders of files named individually, by their path, and the folders' `{path}`.
  private var fileFolders: [[UInt8]: (index: Int, isOwnOutput: Bool)] = [:]

  init(_ options: FolderConverter.Options, cancelled: CancellationFlag) {
    self.options = options
    self.cancelled = cancelled
    pictureExtensions = options.pictureExtensions
    output = options.output.resolved.flatMap { path in
      (try? FileState(of: path)).map { (path, FolderID($0)) }
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
      case .standardInput: try takeNames(STDIN_FILENO, of: RawPath("stdin"))
      }
    }
    return list
  }

  // MARK: Named inputs

  private mutating func takeList(_ path: RawPath) throws(ConversionError) {
    let descriptor = path.withCString { open($0, O_RDONLY | O_CLOEXEC) }
    guard descriptor >= 0 else {
      return list.addProblem(
        path, .failed, stage: .list, code: "unreadable", "the list cannot be read: \(SystemFailure.last.reason)")
    }
    defer { close(descriptor) }
    try takeNames(descriptor, of: path)
  }

  private mutating func takeNames(_ descriptor: Int32, of path: RawPath) throws(ConversionError) {
    var reader = NameReader(isNullSeparated: options.listsAreNullSeparated)
    var failed: ConversionError?
    let failure = reader.read(descriptor, cancelled: cancelled) { name in
      guard failed == nil else { return }
      do throws(ConversionError) {
        try take(RawPath(bytes: name), listed: true)
      } catch {
        failed = error
      }
    }
    if let failed { throw failed }
    if cancelled.isSet { throw .cancelled }
    if let failure {
      list.addProblem(path, .failed, stage: .list, code: "unreadable", "the list cannot be read: \(failure.reason)")
    }
  }

  /// Adds a named file or folder; one from a list keeps the folders in its path.
  private mutating func take(_ path: RawPath, listed: Bool) throws(ConversionError) {
    if path.bytes.contains(0) {
      return list.addProblem(
        RawPath(bytes: path.bytes.filter { $0 != 0 }), .failed, stage: .list, code: "name-unusable",
        "the name holds a zero byte; names that zero bytes end are read with listsAreNullSeparated (-0)")
    }
    // Names from a list are examined only if they could be folders: a file is examined later, when it is checked.
    let state: FileState
    do throws(SystemFailure) {
      state = try FileState(of: path)
    } catch {
      let message = error.code == ENOENT ? "no such file or folder; check its path" : error.reason
      return list.addProblem(
        path, .failed, stage: .list, code: error.code == ENOENT ? "not-found" : "unreadable", message)
    }
    switch state.kind {
    case .folder: try takeFolder(path, listed: listed)
    case .regular: takeFile(path, listed: listed)
    default:
      list.addProblem(
        path, .failed, stage: .list, code: "not-a-file", "neither a file nor a folder; name the file itself")
    }
  }

  private mutating func takeFolder(_ path: RawPath, listed: Bool) throws(ConversionError) {
    let absolute = path.resolved ?? path
    if let output, absolute.isWithin(output.path) {
      if listed {
        return list.addProblem(
          path, .skipped, stage: .list, code: "own-output", "it lies in the output folder")
      }
      throw .invalidOption(
        reason: absolute == output.path
          ? "\(path) is the output folder, too: its thumbnails would be taken for pictures; choose another output folder"
          : "\(path) lies in the output folder, whose thumbnails are not converted; choose another output folder")
    }
    var prefix: [UInt8] = []
    if listed { prefix = Self.keptFolders(path.bytes) }
    let root = list.addRoot(
      .init(path: Self.withSlash(path.bytes), absolute: Self.withSlash(absolute.bytes), prefix: prefix))
    // A folder may be listed again for another input, where its thumbnails may have other names.
    visited = []
    pending = [PendingFolder(root: root, rootPath: Self.withSlash(path.bytes), path: [])]
    while let next = nextFolder() {
      if cancelled.isSet { throw .cancelled }
      walk(next)
    }
  }

  private mutating func takeFile(_ path: RawPath, listed: Bool) {
    guard !isLeftOut(path.bytes, isFolder: false) else { return }
    let written = Array(path.folder)
    let folder = fileFolders[written] ?? addFileFolder(written, listed: listed)
    fileFolders[written] = folder
    list.add(path.name, kind: folder.isOwnOutput ? .ownOutput : .picture, in: folder.index)
  }

  private mutating func addFileFolder(_ written: [UInt8], listed: Bool) -> (index: Int, isOwnOutput: Bool) {
    let absolute = (written.isEmpty ? RawPath(".") : RawPath(bytes: written)).resolved ?? RawPath(bytes: written)
    let prefix = listed ? Self.keptFolders(written) : []
    let root = list.addRoot(.init(path: written, absolute: Self.withSlash(absolute.bytes), prefix: prefix))
    return (list.addFolder([], of: root), output.map { absolute.isWithin($0.path) } ?? false)
  }

  /// The folders of a path that are kept in the output: none that lead upwards or to the root.
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

  private mutating func nextFolder() -> PendingFolder? {
    if let next = pending.popLast() { return next }
    // Sorted, so that of several links to one folder always the same one is followed.
    linked.sort { $1.path.lexicographicallyPrecedes($0.path) }
    return linked.popLast()
  }

  private mutating func walk(_ folder: PendingFolder) {
    let shown = folder.opened
    guard let directory = shown.withCString({ opendir($0) }) else {
      let reason = SystemFailure.last.reason
      return list.addProblem(
        shown, .failed, stage: .list, code: "unreadable", "the folder cannot be read: \(reason)")
    }
    defer { closedir(directory) }
    var status = stat()
    guard fstat(dirfd(directory), &status) == 0 else { return }
    let id = FolderID(FileState(status))
    // The run's own thumbnails are not inputs.
    if id == output?.id { return }
    guard visited.insert(id).inserted else {
      return list.addProblem(
        shown, .skipped, stage: .list, code: "loop", "a link to a folder that is listed already")
    }
    let index = list.addFolder(folder.path, of: folder.root)
    let first = list.count
    var subfolders: [[UInt8]] = []
    while true {
      errno = 0
      guard let entry = readdir(directory) else {
        if errno != 0 {
          list.addProblem(
            shown, .failed, stage: .list, code: "unreadable",
            "the rest of the folder cannot be read: \(SystemFailure.last.reason)")
        }
        break
      }
      Self.withName(of: entry) { name in
        guard !Self.isDots(name), options.includesHidden || name[0] != UInt8(ascii: ".") else { return }
        take(name, type: entry.pointee.d_type, of: directory, in: folder, index, &subfolders)
      }
    }
    list.sort(from: first)
    guard options.isRecursive else { return }
    // Reversed, since the stack's last folder is walked first.
    subfolders.sort { $1.lexicographicallyPrecedes($0) }
    pending += subfolders.map { PendingFolder(root: folder.root, rootPath: folder.rootPath, path: $0) }
  }

  private mutating func take(
    _ name: UnsafeBufferPointer<UInt8>, type: UInt8, of directory: OpaquePointer, in folder: PendingFolder,
    _ index: Int, _ subfolders: inout [[UInt8]]
  ) {
    var kind = Self.kind(type) ?? Self.kind(of: name, in: directory, followingLinks: false)
    let isLink = kind == .link
    if isLink {
      if !options.followsLinks {
        if !isLeftOut(folder.path + name, isFolder: false) { list.add(name, kind: .link, in: index) }
        return
      }
      kind = Self.kind(of: name, in: directory, followingLinks: true)
    }
    switch kind {
    case .folder:
      let path = folder.path + name + [RawPath.slash]
      guard !isLeftOut(path.dropLast(), isFolder: true) else { return }
      if !isLink { return subfolders.append(path) }
      guard options.isRecursive else { return }
      let link = PendingFolder(root: folder.root, rootPath: folder.rootPath, path: path)
      // A link may point into the output folder.
      if let output, link.opened.resolved?.isWithin(output.path) ?? false { return }
      linked.append(link)
    case .regular, nil:
      // Unreadable entries are kept, and fail when they are checked.
      guard !isLeftOut(folder.path + name, isFolder: false) else { return }
      let isPicture = !options.include.isEmpty || isNamedLikePicture(name)
      list.add(name, kind: isPicture ? .picture : .otherName, in: index)
    default:
      if !isLeftOut(folder.path + name, isFolder: false) { list.add(name, kind: .special, in: index) }
    }
  }

  /// Whether the user's patterns exclude a path, which is relative.
  private func isLeftOut(_ path: some Collection<UInt8>, isFolder: Bool) -> Bool {
    if options.exclude.contains(where: { $0.matches(path: path) }) { return true }
    return !isFolder && !options.include.isEmpty && !options.include.contains { $0.matches(path: path) }
  }

  // MARK: Names and kinds

  private func isNamedLikePicture(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0, name.count - dot <= 6 else { return false }
    return pictureExtensions.contains(name[(dot + 1)...].map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 })
  }

  private static func isDots(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    name.isEmpty || name.count <= 2 && name.allSatisfy { $0 == UInt8(ascii: ".") }
  }

  /// The type that `readdir` reports of an entry; nil if it reports none.
  private static func kind(_ type: UInt8) -> FileState.Kind? {
    switch Int(type) {
    case DT_REG: .regular
    case DT_DIR: .folder
    case DT_LNK: .link
    case DT_UNKNOWN: nil
    default: .other
    }
  }

  /// The type of a directory entry; nil if `fstatat` fails.
  private static func kind(
    of name: UnsafeBufferPointer<UInt8>, in directory: OpaquePointer, followingLinks: Bool
  ) -> FileState.Kind? {
    var status = stat()
    let result = name.withMemoryRebound(to: CChar.self) { name in
      name.baseAddress.map { fstatat(dirfd(directory), $0, &status, followingLinks ? 0 : AT_SYMLINK_NOFOLLOW) } ?? -1
    }
    return result == 0 ? FileState(status).kind : nil
  }

  /// Calls `body` with the bytes of an entry's name, which are followed by a zero byte.
  private static func withName(
    of entry: UnsafeMutablePointer<dirent>, _ body: (UnsafeBufferPointer<UInt8>) -> Void
  ) {
    // The kernel's record ends with the name: the 256 bytes that C declares may not all be there.
    guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return }
    let base = (UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: UInt8.self)
    body(UnsafeBufferPointer(start: base, count: strlen(UnsafeRawPointer(base).assumingMemoryBound(to: CChar.self))))
  }
}
