import Foundation

/// An exclusive `flock` on a file next to the database, held while the database is created, replaced or opened.
///
/// The kernel releases it when the process ends, however it ends.
enum FileLock {
  /// Waits up to `timeout` for the lock on the file at `path`, which is created if necessary, and runs `body` while
  /// holding it.
  static func hold<Value>(
    _ path: String, timeout: Duration, _ body: () throws(DiskCacheError) -> Value
  ) throws(DiskCacheError) -> Value {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure(path: path) }
    defer {
      // Closing alone is not enough: a child process between fork and exec has a copy of the descriptor.
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
