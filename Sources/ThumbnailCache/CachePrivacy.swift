import Foundation

/// Keeps the cache's files to their user: what somebody looks at is nobody else's business.
enum CachePrivacy {
  /// Makes a database's file before SQLite does, which would let everybody read it, and closes those that are there to
  /// others. SQLite gives the log and its index the mode of the file.
  static func protect(_ path: String) {
    // Only one that is new may be opened here: closing another would take away the locks that SQLite has on it.
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if descriptor >= 0 {
      close(descriptor)
      return
    }
    for suffix in ["", "-wal", "-shm"] {
      var status = stat()
      guard lstat(path + suffix, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 != 0,
        status.st_uid == geteuid()
      else { continue }
      chmod(path + suffix, status.st_mode & 0o700)
    }
  }

  /// That others may enter or read the cache's folder, and what to do about it; nil when they may not, or when there is
  /// no such folder.
  static func exposure(of directory: String) -> String? {
    var status = stat()
    guard stat(directory, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_mode & 0o077 != 0 else {
      return nil
    }
    let mode = String(status.st_mode & 0o7777, radix: 8)
    return "the cache's folder is open to other users (mode \(mode)): chmod 700 \(directory)"
  }
}
