package import Foundation

/// Why the system refused, with its own words.
package struct SystemFailure: Error, Equatable {
  package let code: Int32

  package init(code: Int32) {
    self.code = code
  }

  /// What `errno` says now.
  package static var last: SystemFailure { SystemFailure(code: errno) }

  package var reason: String { String(cString: strerror(code)) }
}

/// What the file system says of a file, as far as it tells one state of it from another.
package struct FileState: Equatable, Sendable {
  package enum Kind: Sendable {
    case regular, folder, link, other
  }

  package let kind: Kind
  package let device: UInt64
  package let inode: UInt64
  package let byteCount: Int
  /// The time of the last change, in nanoseconds since 1970.
  package let modified: Int
  /// The time of the last access, in nanoseconds since 1970. Reading changes it, so it is no part of the state.
  package let accessed: Int

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
    byteCount = Int(status.st_size)
    // Times beyond the year 2262 wrap around: they are compared for being the same, and the wrapped ones are.
    modified = Int(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int(status.st_mtim.tv_nsec)
    accessed = Int(status.st_atim.tv_sec) &* 1_000_000_000 &+ Int(status.st_atim.tv_nsec)
  }

  package static func == (one: FileState, other: FileState) -> Bool {
    one.kind == other.kind && one.isSameFile(as: other) && one.byteCount == other.byteCount
      && one.modified == other.modified
  }

  /// Looks at what a path leads to, or with `followingLinks` false at what it is.
  package init(of path: RawPath, followingLinks: Bool = true) throws(SystemFailure) {
    var status = stat()
    let result = path.withCString { followingLinks ? stat($0, &status) : lstat($0, &status) }
    guard result == 0 else { throw .last }
    self.init(status)
  }

  /// Whether both are the same file, whatever its state.
  func isSameFile(as other: FileState) -> Bool { device == other.device && inode == other.inode }
}
