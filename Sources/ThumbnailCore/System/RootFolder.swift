import CLibC
package import Glibc

/// A file that is open for reading, and its state then.
package typealias OpenFile = (file: FileDescriptor, state: FileState)

/// A folder that is opened once, such as an output folder.
///
/// Paths in it are resolved beneath it, whatever others move meanwhile: no link is followed, and `..` is refused. The
/// methods block.
package final class RootFolder: Sendable {
  /// The path by which it was opened, which may be a link.
  package let path: RawPath
  private let folder: FileDescriptor

  /// Opens a folder.
  package init(_ path: RawPath) throws(SystemFailure) {
    self.path = path
    folder = try Self.open(path.bytes.isEmpty ? RawPath(".") : path, at: AT_FDCWD, Self.search)
  }

  /// A folder that can be written to, which is made if it is not there.
  package static func writable(_ path: RawPath) throws(FileWriteError) -> RootFolder {
    do throws(SystemFailure) {
      try NewFile.makeFolders(path)
      guard path.withCString({ access($0, W_OK | X_OK) }) == 0 else { throw .last }
      return try RootFolder(path)
    } catch {
      throw FileWriteError(path: path.description, reason: error.reason)
    }
  }

  /// `O_PATH`, which glibc declares for GNU sources only: the folder need not be readable.
  private static let search = 0o10000000 | O_DIRECTORY

  private static func open(_ path: RawPath, at: Int32, _ flags: Int32) throws(SystemFailure) -> FileDescriptor {
    let descriptor = path.withCString { openat(at, $0, flags | O_CLOEXEC) }
    guard descriptor >= 0 else { throw .last }
    return FileDescriptor(owning: descriptor)
  }

  /// Opens a folder in it; one of an empty path is itself.
  ///
  /// - Parameter permissions: Those of missing folders, which are made; nil if they are not.
  /// - Throws: `ELOOP` if a link is in the way.
  package func folder(
    _ relative: some Collection<UInt8>, making permissions: mode_t? = nil
  ) throws(SystemFailure) -> FileDescriptor {
    var current = folder
    for part in relative.split(separator: RawPath.slash) {
      let name = try Self.name(part)
      let inner = current
      do throws(SystemFailure) {
        current = try Self.open(name, at: inner.rawValue, Self.search | O_NOFOLLOW)
      } catch {
        if error.code == ENOTDIR, try state(of: name, in: inner)?.kind == .link { throw SystemFailure(code: ELOOP) }
        guard let permissions, error.code == ENOENT else { throw error }
        guard name.withCString({ mkdirat(inner.rawValue, $0, permissions) }) == 0 || errno == EEXIST else {
          throw .last
        }
        current = try Self.open(name, at: inner.rawValue, Self.search | O_NOFOLLOW)
      }
    }
    return current
  }

  /// A component of a path that leads neither up nor out.
  private static func name(_ part: some Collection<UInt8>) throws(SystemFailure) -> RawPath {
    if part.isEmpty || part.elementsEqual(".".utf8) || part.elementsEqual("..".utf8) || part.contains(0) {
      throw SystemFailure(code: EINVAL)
    }
    return RawPath(bytes: part)
  }

  /// Whether a path in a folder has plain names alone, so that it is the only one that leads there.
  package static func isPlain(_ relative: [UInt8]) -> Bool {
    relative.split(separator: RawPath.slash, omittingEmptySubsequences: false).allSatisfy { (try? name($0)) != nil }
  }

  /// The folder and the name of a path in it.
  private func split(_ relative: [UInt8]) throws(SystemFailure) -> (folder: FileDescriptor, name: RawPath) {
    let path = RawPath(bytes: relative)
    return (try folder(path.folder), try Self.name(path.name))
  }

  /// Creates a file that will have a name in one of its folders. See `NewFile`.
  package static func newFile(
    _ name: some Collection<UInt8>, in folder: FileDescriptor, permissions: mode_t = 0o666, isNamed: Bool = false
  ) throws(SystemFailure) -> NewFile {
    try NewFile(try Self.name(name), in: folder, permissions: permissions, isNamed: isNamed)
  }

  /// What is there, which may be a link; nil if nothing is.
  package func state(of relative: [UInt8]) -> FileState? {
    guard let (folder, name) = try? split(relative) else { return nil }
    return try? state(of: name, in: folder)
  }

  /// Whether a file may be there: also where its folder may not be looked into, or is a link by now.
  package func mayHave(_ relative: [UInt8]) -> Bool {
    do throws(SystemFailure) {
      let (folder, name) = try split(relative)
      return try state(of: name, in: folder) != nil
    } catch {
      return ![ENOENT, ENOTDIR, EINVAL].contains(error.code)
    }
  }

  private func state(of name: RawPath, in folder: FileDescriptor) throws(SystemFailure) -> FileState? {
    var status = stat()
    if name.withCString({ fstatat(folder.rawValue, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0 {
      return FileState(status)
    }
    guard errno == ENOENT else { throw .last }
    return nil
  }

  /// Whether a file in it is seen through a mount within it.
  package func isMounted(_ file: FileDescriptor) -> Bool { Self.mount(of: folder) != Self.mount(of: file) }

  private static func mount(of file: FileDescriptor) -> UInt64? {
    var status = statx()
    let isTold = statx(file.rawValue, "", 0x1000 /* AT_EMPTY_PATH */, UInt32(STATX_MNT_ID), &status) == 0
    if isTold, status.stx_mask & UInt32(STATX_MNT_ID) != 0 { return status.stx_mnt_id }
    // Before Linux 5.8, or where `statx` is forbidden.
    let lines = KernelFile.text("/proc/self/fdinfo/\(file.rawValue)")?.split(separator: "\n") ?? []
    return lines.first { $0.hasPrefix("mnt_id:") }.flatMap { UInt64($0.drop { !$0.isNumber }) }
  }

  /// Opens a file that is not a link.
  package func file(
    _ relative: [UInt8], writing: Bool = false
  ) throws(SystemFailure) -> OpenFile {
    let (folder, name) = try split(relative)
    return try Self.file(at: name, in: folder, (writing ? O_RDWR : O_RDONLY) | O_NOFOLLOW)
  }

  /// Opens a file for reading, through links.
  package static func file(at path: RawPath) throws(SystemFailure) -> OpenFile {
    try file(at: path, in: nil, O_RDONLY)
  }

  private static func file(
    at path: RawPath, in folder: FileDescriptor?, _ flags: Int32
  ) throws(SystemFailure) -> OpenFile {
    let file = try open(path, at: folder?.rawValue ?? AT_FDCWD, flags | O_NONBLOCK | O_NOCTTY)
    return (file, try FileState(ofOpen: file))
  }

  /// The file whose place a new file takes, with its permissions; nil if nothing is there.
  ///
  /// What has the same bytes, or a beginning of them, as a power failure leaves it, is no user's file.
  ///
  /// - Parameters:
  ///   - mayBeOpen: Whether it stays in any case: then one with the same bytes may be open for writing elsewhere.
  ///   - isInput: Whether it may not be replaced in any case.
  ///   - isReplaced: Whether it is replaced, whatever it has.
  /// - Throws: For what is not replaced, `EBUSY` if it is an input, else `EEXIST` or `EISDIR`.
  package func replaced(
    _ relative: [UInt8], by new: borrowing NewFile, mayBeOpen: Bool = false, isInput: (FileState) -> Bool,
    _ isReplaced: (FileState) -> Bool
  ) throws(SystemFailure) -> FileState? {
    let (folder, name) = try split(relative)
    guard let state = try state(of: name, in: folder) else { return nil }
    if state.kind == .folder { throw SystemFailure(code: EISDIR) }
    let pool = path.appending(relative).pool
    if ([state] + pool.files).contains(where: isInput) { throw SystemFailure(code: EBUSY) }
    if !mayBeOpen, pool.mayHideOthers { throw SystemFailure(code: EEXIST) }
    if !isReplaced(state) {
      guard let there = try? file(relative), there.state == state, new.continues(there, mayBeOpen: mayBeOpen) else {
        throw SystemFailure(code: EEXIST)
      }
    }
    // Not all file systems have permissions.
    if state.kind == .regular { try? new.setPermissions(state.permissions & 0o777) }
    return state
  }

  /// Whether two files have the same bytes, and some. On different devices they may be one, seen through mounts with
  /// other times.
  package static func areSameBytes(_ one: OpenFile, _ other: OpenFile) throws -> Bool {
    let count = one.state.byteCount
    guard one.state.kind == .regular, other.state.kind == .regular, count > 0, count == other.state.byteCount else {
      return false
    }
    let bodies = [one.file, other.file].map { ByteSource.file($0, count: count) }
    return try stride(from: 0, to: count, by: 1 << 20).allSatisfy { start in
      try bodies[0].read(at: start, length: 1 << 20) == bodies[1].read(at: start, length: 1 << 20)
    }
  }

  /// The bytes of a regular file of at most this length; nil if there is none.
  package func bytes(of relative: [UInt8], atMost length: Int) -> [UInt8]? {
    guard let (file, state) = try? file(relative), state.kind == .regular, state.byteCount <= length else { return nil }
    return try? ByteSource.file(file, count: state.byteCount).read(at: 0, length: state.byteCount)
  }

  /// Removes a file, which is not a folder.
  ///
  /// - Parameter expected: The state of a readable one, if another file that has come in its place meanwhile is not to
  ///   be removed.
  /// - Throws: `EEXIST` if there is another file, or may be in a pool, which stays; `.setAside` if it could not stay by
  ///   its name.
  package func remove(_ relative: [UInt8], if expected: FileState? = nil) throws(SystemFailure) {
    let (folder, name) = try split(relative)
    guard let expected else {
      guard name.withCString({ unlinkat(folder.rawValue, $0, 0) }) == 0 else { throw .last }
      return
    }
    if path.appending(relative).pool.mayHideOthers { throw SystemFailure(code: EEXIST) }
    let (at, aside) = (folder.rawValue, NewFile.randomName(beside: name, end: "old"))
    let (opened, before) = try Self.file(at: name, in: folder, O_RDONLY | O_NOFOLLOW)
    guard name.withCString({ name in aside.withCString { renameat(at, name, at, $0) } }) == 0 else { throw .last }
    // Where names number files (rclone), its time and bytes are there.
    guard !NewFile.isBeingWritten(aside, at), let state = try state(of: aside, in: folder),
      state == expected
        || before == expected && state.modified == expected.modified
          && (try? Self.areSameBytes((opened, before), Self.file(at: aside, in: folder, O_RDONLY | O_NOFOLLOW))) == true
    else { throw NewFile.renameAsNew(aside, name, at) ? SystemFailure(code: EEXIST) : .setAside }
    // What is open leaves another file on some network file systems.
    _ = consume opened
    guard aside.withCString({ unlinkat(at, $0, 0) }) == 0 else { throw .last }
  }

  /// Removes the folders of a path as far as they are empty, not itself.
  package func removeEmptyFolders(of relative: [UInt8]) {
    var rest = relative[...]
    while let slash = rest.lastIndex(of: RawPath.slash) {
      rest = rest[..<slash]
      guard let (folder, name) = try? split(Array(rest)),
        name.withCString({ unlinkat(folder.rawValue, $0, AT_REMOVEDIR) }) == 0
      else { return }
    }
  }

  /// The names of the entries of a folder in it; nil if it cannot be listed.
  package func names(in relative: some Collection<UInt8>) -> [[UInt8]]? {
    guard let folder = try? folder(relative),
      case let listed = openat(folder.rawValue, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), listed >= 0
    else { return nil }
    guard let stream = fdopendir(listed) else {
      close(listed)
      return nil
    }
    defer { closedir(stream) }
    var names: [[UInt8]] = []
    while let entry = readdir(stream) { names.append(Array(DirectoryWalk.name(of: entry))) }
    return names
  }
}

extension RawPath {
  /// The files that a pool of several disks (mergerfs) shows as this one, and replaces and removes with it: none
  /// elsewhere, nor if the pool does not say, which then may hide others.
  package var pool: (files: [FileState], mayHideOthers: Bool) {
    var paths = [UInt8](repeating: 0, count: 1 << 16)
    let length = withCString { clibc_attribute($0, "user.mergerfs.allpaths", &paths, UInt(paths.count)) }
    let files = paths.prefix(max(0, length)).split(separator: 0).map { RawPath(bytes: $0) }
    if !files.isEmpty { return (files.compactMap { try? FileState(of: $0) }, files.count > 1) }
    let place = folder.isEmpty ? RawPath(".") : RawPath(bytes: folder)
    let isInUserSpace = place.withCString(clibc_file_system) == 0x6573_5546
    return ([], isInUserSpace && ["fuse.mergerfs", "fuse.mhddfs"].contains(FileSystem(at: "\(place)").kind))
  }
}
