import Foundation
import ThumbnailCore

/// An exclusive `flock` on a file next to the database, held while the database is created, replaced or opened.
///
/// The kernel releases it when the process ends, even by a kill.
enum FileLock {
  /// Waits up to `timeout` for the lock on the file at `path`, which is created if necessary, and runs `body` while
  /// holding it.
  static func hold<Value>(
    _ path: String, timeout: Duration, _ body: () throws(DiskCacheError) -> Value
  ) throws(DiskCacheError) -> Value {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure(path: path) }
    defer {
      // Closing is not enough, because a child process between fork and exec has a copy of the descriptor.
      flock(descriptor, LOCK_UN)
      close(descriptor)
    }
    let deadline = ContinuousClock.now + timeout
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR else { throw failure(path: path) }
      guard ContinuousClock.now < deadline else { throw .busy(path: path) }
      usleep(5_000)
    }
    return try body()
  }

  private static func failure(path: String) -> DiskCacheError {
    let code = errno
    return switch code {
    case ENOSPC, EDQUOT: .diskFull(path: path)
    case EACCES, EPERM, EROFS: .notWritable(path: path)
    default: .directoryUnusable(path: path, reason: String(cString: strerror(code)))
    }
  }
}

/// Restricts access to the cache's files to their user, because they show which images the user has viewed.
enum CachePrivacy {
  /// Creates the database file before SQLite would create it with default permissions, and restricts existing files.
  /// SQLite gives the log and its index the mode of the file.
  static func protect(_ path: String) {
    // An existing file must not be opened here: closing it would release SQLite's POSIX locks on it.
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if descriptor >= 0 {
      close(descriptor)
      return
    }
    for suffix in ["", "-wal", "-shm"] {
      guard let state = try? FileState(of: RawPath(path + suffix), followingLinks: false), state.kind == .regular,
        state.permissions & 0o077 != 0, state.owner == geteuid()
      else { continue }
      chmod(path + suffix, state.permissions & 0o700)
    }
  }

  /// A warning that other users can access the cache's folder, and what to do; nil if they cannot, or if the folder
  /// does not exist.
  static func exposure(of directory: String) -> String? {
    guard let state = try? FileState(of: RawPath(directory)), state.kind == .folder, state.permissions & 0o077 != 0
    else {
      return nil
    }
    let mode = String(state.permissions, radix: 8)
    return "other users can access the cache's folder (mode \(mode)): chmod 700 \(directory)"
  }
}
