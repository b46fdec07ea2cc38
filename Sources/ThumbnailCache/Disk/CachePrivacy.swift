import Foundation

/// Restricts the cache's files to their user, since they show what the user has viewed.
enum CachePrivacy {
  /// Creates a database's file before SQLite would do so with default permissions, and restricts existing files. SQLite
  /// gives the log and its index the mode of the file.
  static func protect(_ path: String) {
    // An existing file must not be opened here: closing it would release SQLite's POSIX locks on it.
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

  /// A warning that other users can access the cache's folder, and what to do about it; nil when they cannot, or when
  /// the folder does not exist.
  static func exposure(of directory: String) -> String? {
    var status = stat()
    guard stat(directory, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_mode & 0o077 != 0 else {
      return nil
    }
    let mode = String(status.st_mode & 0o7777, radix: 8)
    return "the cache's folder is open to other users (mode \(mode)): chmod 700 \(directory)"
  }
}
