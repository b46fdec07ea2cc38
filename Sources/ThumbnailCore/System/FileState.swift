package import Glibc

/// A failed system call, with its `errno`.
package struct SystemFailure: Error, Equatable {
  package let code: Int32

  package init(code: Int32) {
    self.code = code
  }

  /// The current `errno`.
  package static var last: SystemFailure { SystemFailure(code: errno) }

  /// A file that came meanwhile could not get its name back.
  static let setAside = SystemFailure(code: EINPROGRESS)
  /// The list of what a folder hides cannot be read.
  static let hiddenList = SystemFailure(code: EBADMSG)

  package var reason: String {
    let text = String(cString: strerror(code))
    if self == .setAside { return "another file came meanwhile, and is called .thumbs-….old now" }
    if self == .hiddenList { return "its list .hidden of what is not shown cannot be read, or is no UTF-8" }
    return code == ELOOP ? text + ", or one that is not followed" : text
  }

  /// What to do where nothing can be written, for the `reason` and with another place to choose.
  package static func advice(_ reason: String, choose other: String) -> String {
    let room = "make room there, or "
    let first = [ENOSPC: room, EDQUOT: room, ENAMETOOLONG: "shorten the name, or "]
    return (first.first { SystemFailure(code: $0.key).reason == reason }?.value ?? "") + "choose \(other)"
  }
}

/// The identity of a file's contents, from `stat`.
package struct FileState: Equatable, Sendable {
  package enum Kind: Sendable {
    case regular, folder, link, other
  }

  package let kind: Kind
  package let device: UInt64
  package let inode: UInt64
  /// The length, at most `longest`: a sparse file may claim 2⁶³ bytes, and sums of positions in it would overflow.
  package let byteCount: Int
  /// The number of its names (hard links).
  package let linkCount: Int
  /// The permission bits, which are not compared, nor is whose it is.
  package let permissions: mode_t
  package let owner: uid_t
  package let group: gid_t
  package let modificationTime: timespec
  /// Reading changes it, so it is not compared.
  package let accessTime: timespec
  /// The time of the last change of anything but the name. Second names change it, so it is not compared.
  private let changeTime: timespec

  /// No file is longer.
  package static let longest = 1 << 48

  /// The modification time, in nanoseconds since 1970. It wraps around beyond the year 2262, which is fine where it is
  /// only compared for equality.
  package var modified: Int { modificationTime.tv_sec &* 1_000_000_000 &+ modificationTime.tv_nsec }

  package init(_ status: stat) {
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .regular
      case S_IFDIR: .folder
      case S_IFLNK: .link
      default: .other
      }
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    byteCount = max(0, min(Int(status.st_size), Self.longest))
    linkCount = Int(clamping: status.st_nlink)
    permissions = status.st_mode & 0o7777
    (owner, group) = (status.st_uid, status.st_gid)
    (modificationTime, accessTime) = (Self.time(status.st_mtim), Self.time(status.st_atim))
    changeTime = status.st_ctim
  }

  /// Disks may hold more nanoseconds than a second has.
  private static func time(_ time: timespec) -> timespec {
    timespec(tv_sec: time.tv_sec, tv_nsec: min(max(0, time.tv_nsec), 999_999_999))
  }

  package static func == (one: FileState, other: FileState) -> Bool {
    one.kind == other.kind && one.isSameFile(as: other) && one.byteCount == other.byteCount
      && one.modified == other.modified
  }

  /// The state of the file at a path; with `followingLinks` false, of the link itself.
  package init(of path: RawPath, followingLinks: Bool = true) throws(SystemFailure) {
    var status = stat()
    let result = path.withCString { followingLinks ? stat($0, &status) : lstat($0, &status) }
    guard result == 0 else { throw .last }
    self.init(status)
  }

  /// The state of an open file.
  package init(ofOpen descriptor: Int32) throws(SystemFailure) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .last }
    self.init(status)
  }

  /// The same, which stays open meanwhile.
  package init(ofOpen file: FileDescriptor) throws(SystemFailure) {
    defer { withExtendedLifetime(file) {} }
    try self.init(ofOpen: file.rawValue)
  }

  /// Identifies a file, whatever its path and contents.
  package struct ID: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
  }

  package var id: ID { ID(device: device, inode: inode) }

  /// Whether both are the same file, whatever its contents.
  package func isSameFile(as other: FileState) -> Bool { id == other.id }

  /// Whether both are the same file, or may be: seen through two mounts, whose times differ by less than two seconds,
  /// the coarsest step of file systems; or by two paths of one that numbers files by their paths, whose times of change
  /// are the same then, as those of copies are not.
  package func mayBeSameFile(as other: FileState) -> Bool {
    if isSameFile(as: other) { return true }
    let (change, others) = (changeTime, other.changeTime)
    return (device != other.device || change.tv_sec == others.tv_sec && change.tv_nsec == others.tv_nsec)
      && byteCount == other.byteCount
      && modified.subtractingReportingOverflow(other.modified).partialValue.magnitude < 2_000_000_000
  }
}

extension FileState {
  /// The number of all who have none in a user namespace.
  package static let nobody: uid_t = 65_534

  /// Whether the owner is another user, who has put it into a folder where only the owner of a file may remove it
  /// (`/tmp`), and which is not that user's own.
  package func isPlanted(in folder: FileState) -> Bool {
    folder.permissions & S_ISVTX != 0 && owner != geteuid() && (owner != folder.owner || owner == Self.nobody)
  }
}
