import CLibC
package import FoundationEssentials
package import Glibc

/// A file that gets its name once it is whole, so that others see either the old content or the new.
///
/// Until `commit` it has another name in the same folder, or none. It is removed if this value is dropped without
/// `commit`, as after an error. What has the name, or the temporary one, is never written into: it may be a hard link.
/// The methods block.
package struct NewFile: ~Copyable, Sendable {
  /// The file, open for reading and writing.
  package let file: FileDescriptor
  /// The folder that the names are relative to; nil for the working directory.
  private let folder: FileDescriptor?
  private let name: RawPath
  /// The name until then; nil if there is none.
  package private(set) var temporary: RawPath?

  /// Creates the file under a given temporary name, in place of a file that a killed process has left there.
  package init(
    _ name: RawPath, in folder: FileDescriptor? = nil, temporary: RawPath, permissions: mode_t = 0o666
  ) throws(SystemFailure) {
    let at = folder.number
    do throws(SystemFailure) {
      file = try Self.open(temporary, at, permissions)
    } catch {
      guard error.code == EEXIST, temporary.withCString({ unlinkat(at, $0, 0) }) == 0 else { throw error }
      file = try Self.open(temporary, at, permissions)
    }
    (self.folder, self.name, self.temporary) = (folder, name, temporary)
  }

  /// Creates the file without a name, so that a kill leaves nothing behind; under a random one if the file system
  /// supports only that, or if that is asked for because it takes less time.
  ///
  /// A file with a name is locked, so that others who look for what killed processes have left can tell it.
  package init(
    _ name: RawPath, in folder: FileDescriptor? = nil, permissions: mode_t = 0o666, isNamed: Bool = false
  ) throws(SystemFailure) {
    (file, temporary) = try Self.create(beside: name, folder.number, permissions, isNamed: isNamed)
    (self.folder, self.name) = (folder, name)
    if temporary != nil { _ = file.lock() }
  }

  deinit {
    if let temporary { _ = temporary.withCString { unlinkat(folder.number, $0, 0) } }
  }

  /// Appends all of the bytes.
  package func write(_ bytes: some ContiguousBytes) throws(SystemFailure) {
    try Self.write(bytes, to: file.rawValue)
  }

  /// Writes what is in the file to the disk, so that after a power failure it is there once it has its name.
  package func sync() throws(SystemFailure) {
    // Not all file systems have this.
    guard fdatasync(file.rawValue) == 0 || errno == EINVAL else { throw .last }
  }

  /// Sets the permissions, which the process's mask does not restrict.
  package func setPermissions(_ permissions: mode_t) throws(SystemFailure) {
    guard fchmod(file.rawValue, permissions) == 0 else { throw .last }
  }

  /// Sets the access and modification times.
  package func setTimes(accessed: timespec, modified: timespec) throws(SystemFailure) {
    guard futimens(file.rawValue, [accessed, modified]) == 0 else { throw .last }
  }

  /// Whether a file has the same bytes, or the first of them.
  ///
  /// - Parameter mayBeOpen: Whether somebody may have it open for writing.
  borrowing func continues(_ there: OpenFile, mayBeOpen: Bool = false) -> Bool {
    let whole = there.state.byteCount
    // Somebody may be about to write the rest.
    let isBeingWritten = clibc_is_being_written(there.file.rawValue)
    let isOurs = isBeingWritten == 0 || isBeingWritten < 0 && errno != EACCES && whole > 0
    guard there.state.kind == .regular, mayBeOpen || isOurs else { return false }
    for start in stride(from: 0, to: whole, by: 1 << 20) {
      let length = min(1 << 20, whole - start)
      guard let bytes = try? ByteSource.file(there.file, count: whole).read(at: start, length: length),
        bytes.count == length, bytes == (try? ByteSource.file(file, count: whole).read(at: start, length: length))
      else { return false }
    }
    // Some file systems do not tell how long a file is.
    return (try? ByteSource.file(there.file, count: whole + 1).read(at: whole, length: 1))?.isEmpty == true
  }

  /// Gives the file its name, at most once.
  ///
  /// - Parameter replacing: Whether a file of that name is replaced.
  /// - Returns: False if there is one that is not to be replaced.
  @discardableResult
  package mutating func commit(replacing: Bool = true) throws(SystemFailure) -> Bool {
    try complete()
    if temporary == nil {
      if giveName(name) { return true }
      guard errno == EEXIST else { throw .last }
      if !replacing { return false }
      try giveTemporaryName()
    }
    let at = folder.number
    let isNamed = temporary.map { temporary in
      if !replacing { return Self.renameAsNew(temporary, name, at) }
      return temporary.withCString { from in name.withCString { renameat(at, from, at, $0) } } == 0
    }
    guard isNamed == true else {
      if !replacing, errno == EEXIST { return false }
      throw .last
    }
    temporary = nil
    return true
  }

  /// Gives the file its name in place of a file in a known state, or of nothing.
  ///
  /// - Returns: False, with nothing changed, if something else is there.
  package mutating func commit(over there: FileState?) throws(SystemFailure) -> Bool {
    guard let there else { return try commit(replacing: false) }
    try complete()
    if temporary == nil { try giveTemporaryName() }
    let at = folder.number
    // By this name, what was there is known after a kill.
    let aside = Self.randomName(beside: name, end: "old")
    guard temporary?.withCString({ from in aside.withCString { renameat(at, from, at, $0) } }) == 0 else { throw .last }
    temporary = aside
    let own = try FileState(ofOpen: file)
    func exchange() -> Bool {
      aside.withCString { one in name.withCString { clibc_exchange_names(at, one, $0) } } == 0
    }
    guard exchange() else {
      if errno == ENOENT { return try commit(replacing: false) }
      // Here, a file that comes at this moment is replaced.
      guard Self.unsupported.contains(errno) else { throw .last }
      guard Self.state(of: name, at) == there, !Self.isBeingWritten(name, at) else { return false }
      return try commit(replacing: true)
    }
    if !Self.isBeingWritten(aside, at), Self.state(of: aside, at) == there {
      temporary = nil
      _ = aside.withCString { unlinkat(at, $0, 0) }
      return true
    }
    // It came meanwhile. It gets its name back, or keeps this one, as does what has come since.
    if exchange() {
      // It had that name for a moment, in which somebody may have opened it: to read it, or to save into it.
      for _ in 0..<100 {
        if clibc_is_being_written(file.rawValue) != 1 { break }
        usleep(1000)
      }
      if clibc_is_being_written(file.rawValue) != 1, Self.state(of: aside, at) == own { return false }
      temporary = nil
    } else {
      temporary = nil
      if Self.renameAsNew(aside, name, at) { return false }
    }
    throw .setAside
  }

  /// Whether somebody has a file open for writing, who may be about to write: asked once it has left its name.
  package static func isBeingWritten(_ name: RawPath, _ at: Int32) -> Bool {
    let file = name.withCString { openat(at, $0, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC) }
    // One that a server (Samba, NFS) has lent to a client cannot be opened without waiting; and files may have run out.
    guard file >= 0 else { return ![ENOENT, ELOOP, ENXIO, EACCES].contains(errno) }
    defer { close(file) }
    return clibc_is_being_written(file) == 1
  }

  /// What calls fail with that a file system does not have; the last is rclone's.
  private static let unsupported = [EINVAL, EPERM, EOPNOTSUPP, ENOSYS, EMLINK, EIO]

  /// Gives a file another name, unless that is taken. On failure, sets `errno`.
  static func renameAsNew(_ from: RawPath, _ name: RawPath, _ at: Int32) -> Bool {
    from.withCString { from in
      name.withCString { to in
        if clibc_rename_as_new(at, from, to) == 0 { return true }
        if unsupported.contains(errno), linkat(at, from, at, to, 0) == 0 { return unlinkat(at, from, 0) == 0 }
        // Some file systems have neither. There, a file that is created at this moment is replaced.
        guard unsupported.contains(errno) else { return false }
        errno = EEXIST
        return state(of: name, at) == nil && errno == ENOENT && renameat(at, from, at, to) == 0
      }
    }
  }

  private static func state(of name: RawPath, _ at: Int32) -> FileState? {
    var status = stat()
    return name.withCString({ fstatat(at, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0 ? FileState(status) : nil
  }

  /// Throws what some file systems report only when a descriptor is closed, such as a lack of space.
  private func complete() throws(SystemFailure) {
    let copy = dup(file.rawValue)
    guard copy >= 0, close(copy) == 0 else { throw .last }
  }

  /// Gives the file a random name, since only a file with a name can be renamed.
  private mutating func giveTemporaryName() throws(SystemFailure) {
    var random = Self.randomName(beside: name)
    while !giveName(random) {
      guard errno == EEXIST else { throw .last }
      random = Self.randomName(beside: name)
    }
    temporary = random
  }

  /// Links the file, which has no name, to one that must not exist. On failure, sets `errno`.
  private func giveName(_ name: RawPath) -> Bool {
    name.withCString { linkat(AT_FDCWD, Self.link(to: file), folder.number, $0, AT_SYMLINK_FOLLOW) } == 0
  }

  private static func create(
    beside name: RawPath, _ at: Int32, _ permissions: mode_t, isNamed: Bool
  ) throws(SystemFailure) -> (FileDescriptor, RawPath?) {
    if !isNamed, let unnamed = try? FileDescriptor.withoutName(in: folder(of: name), at: at, permissions: permissions),
      // Without /proc the file could not be named later.
      access(link(to: unnamed), F_OK) == 0
    {
      return (unnamed, nil)
    }
    while true {
      let random = randomName(beside: name)
      do throws(SystemFailure) {
        return (try open(random, at, permissions), random)
      } catch {
        guard error.code == EEXIST else { throw error }
      }
    }
  }

  private static func link(to file: FileDescriptor) -> String { "/proc/self/fd/\(file.rawValue)" }

  private static func folder(of name: RawPath) -> RawPath {
    name.folder.isEmpty ? RawPath(".") : RawPath(bytes: name.folder)
  }

  /// A name of fixed length, since the file's own may have the maximum length.
  static func randomName(beside name: RawPath, end: String = "tmp") -> RawPath {
    folder(of: name).appending(".thumbs-\(UInt64.random(in: .min ... .max)).\(end)".utf8)
  }

  /// Whether a name may be a temporary one.
  package static func isTemporary(_ name: [UInt8]) -> Bool { isRandom(name, end: ".tmp") }

  /// Whether a name may be that of what was at the place of a file.
  package static func isSetAside(_ name: [UInt8]) -> Bool { isRandom(name, end: ".old") }

  private static func isRandom(_ name: [UInt8], end: String) -> Bool {
    let digits = name.dropFirst(8).dropLast(4)
    return name.starts(with: ".thumbs-".utf8) && name.suffix(4).elementsEqual(end.utf8) && !digits.isEmpty
      && digits.allSatisfy { (0x30...0x39).contains($0) }
  }

  /// Opens a file that must not exist.
  private static func open(
    _ path: RawPath, _ at: Int32, _ permissions: mode_t
  ) throws(SystemFailure) -> FileDescriptor {
    let descriptor = path.withCString { openat(at, $0, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, permissions) }
    guard descriptor >= 0 else { throw .last }
    return FileDescriptor(owning: descriptor)
  }

  /// Writes all of the bytes at the descriptor's current position.
  package static func write(_ bytes: some ContiguousBytes, to descriptor: Int32) throws(SystemFailure) {
    let failure = bytes.withUnsafeBytes { bytes -> SystemFailure? in
      var done = 0
      while done < bytes.count {
        let written = Glibc.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
        if written < 0 {
          if errno == EINTR { continue }
          return .last
        }
        done += written
      }
      return nil
    }
    if let failure { throw failure }
  }

  /// Makes a folder and its missing ancestors.
  package static func makeFolders(_ path: RawPath, permissions: mode_t = 0o777) throws(SystemFailure) {
    if path.withCString({ mkdir($0, permissions) }) == 0 { return }
    switch errno {
    case EEXIST:
      guard try FileState(of: path).kind == .folder else { throw SystemFailure(code: ENOTDIR) }
    case ENOENT:
      let parent = RawPath(bytes: path.bytes[...].dropLastPart())
      guard !parent.bytes.isEmpty, parent != path else { throw SystemFailure(code: ENOENT) }
      try makeFolders(parent, permissions: permissions)
      guard path.withCString({ mkdir($0, permissions) }) == 0 || errno == EEXIST else { throw .last }
    default: throw .last
    }
  }
}

extension FileDescriptor? {
  /// For system calls with a folder: the working directory if there is none.
  fileprivate var number: Int32 { self?.rawValue ?? AT_FDCWD }
}

extension SystemFailure {
  /// Whether later writes would fail as well, because the disk is full or read-only.
  package var endsRun: Bool { [ENOSPC, EDQUOT, EROFS].contains(code) }
}

extension Array<UInt8>.SubSequence {
  /// The path without its last component and the slashes before it.
  fileprivate func dropLastPart() -> ArraySlice<UInt8> {
    var rest = self
    while rest.last == RawPath.slash { rest.removeLast() }
    while let last = rest.last, last != RawPath.slash { rest.removeLast() }
    while rest.count > 1, rest.last == RawPath.slash { rest.removeLast() }
    return rest
  }
}

extension RawPath {
  /// Renames a file that is not used: with `.damaged` behind its name, and a number behind that if such a file is there.
  /// Returns its new path.
  ///
  /// - Parameter suffix: That of a file that belongs to it, and is renamed with it.
  @discardableResult
  package func setAside(with suffix: String? = nil) throws(SystemFailure) -> RawPath {
    for number in 0... {
      let aside = RawPath(bytes: bytes + Array(".damaged\(number == 0 ? "" : "-\(number)")".utf8))
      guard NewFile.renameAsNew(self, aside, AT_FDCWD) else {
        guard errno == EEXIST else { throw .last }
        continue
      }
      let others = suffix.map { suffix in [self, aside].map { RawPath(bytes: $0.bytes + suffix.utf8) } }
      if let others { _ = NewFile.renameAsNew(others[0], others[1], AT_FDCWD) }
      return aside
    }
    throw SystemFailure(code: EEXIST)
  }
}
