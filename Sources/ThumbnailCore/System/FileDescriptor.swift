import Glibc
import Synchronization

/// An open file that is closed when its last reference is dropped.
///
/// Several threads may read it with positioned reads; only this object closes it.
package final class FileDescriptor: Sendable {
  /// The file descriptor's number; valid as long as this object lives.
  package let rawValue: Int32
  private let isLocked = Atomic(false)
  /// Released when the file is closed, such as a memory reservation.
  private let kept: (any AnyObject & Sendable)?

  /// Takes over `rawValue`, which must be open and owned by the caller, and keeps an object alive as long as the file
  /// is open.
  package init(owning rawValue: Int32, keeping kept: (any AnyObject & Sendable)? = nil) {
    self.rawValue = rawValue
    self.kept = kept
  }

  /// A duplicate of the standard input, which itself stays open. Reading from it fails if the program has no standard
  /// input.
  package static var standardInput: FileDescriptor {
    FileDescriptor(owning: fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3))
  }

  /// Whether the file's bytes hold a memory reservation.
  var holdsMemory: Bool { kept != nil }

  deinit {
    // Closing alone is not enough: a child process between fork and exec has a copy of the descriptor, and thus the
    // lock.
    if isLocked.load(ordering: .relaxed) { flock(rawValue, LOCK_UN) }
    close(rawValue)
  }

  /// Takes the exclusive lock on the file, held as long as this object lives. Returns false, without waiting, if
  /// another process has it; `errno` differs from `EWOULDBLOCK` if locking failed.
  package func lock() -> Bool {
    repeat {
      errno = 0
    } while flock(rawValue, LOCK_EX | LOCK_NB) != 0 && errno == EINTR
    guard errno == 0 else { return false }
    isLocked.store(true, ordering: .relaxed)
    return true
  }

  /// Writes all of the bytes at an offset. A failure may leave some of them written.
  package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SystemFailure) {
    var written = 0
    while written < bytes.count {
      let count = pwrite(
        rawValue, bytes.baseAddress.map { $0 + written }, bytes.count - written, off_t(offset + written))
      if count < 0 {
        if errno == EINTR { continue }
        throw .last
      }
      written += count
    }
  }

  /// Writes all of the bytes at an offset. A failure may leave some of them written.
  package func write(_ bytes: [UInt8], at offset: Int) throws(SystemFailure) {
    // Rethrown by hand: `withUnsafeBytes` does not support typed throws.
    try bytes.withUnsafeBytes { bytes in Result { () throws(SystemFailure) in try write(bytes, at: offset) } }.get()
  }

  /// `O_TMPFILE`, which glibc declares for GNU sources only.
  private static let temporaryFile: Int32 = 0o20000000 | O_DIRECTORY

  /// A new file without a name, open for reading and writing. Fails on file systems that lack `O_TMPFILE`, such as
  /// network and overlay ones.
  ///
  /// - Parameter at: The folder that the directory's path is relative to.
  static func withoutName(
    in directory: RawPath, at: Int32 = AT_FDCWD, permissions: mode_t
  ) throws(SystemFailure) -> FileDescriptor {
    let descriptor = directory.withCString { openat(at, $0, temporaryFile | O_RDWR | O_CLOEXEC, permissions) }
    guard descriptor >= 0 else { throw .last }
    return FileDescriptor(owning: descriptor)
  }

  /// A new unnamed file in a directory, open for reading and writing. It is deleted with its last descriptor, even when
  /// the process is killed.
  package static func unnamed(in directory: String) throws(SystemFailure) -> FileDescriptor {
    if let unnamed = try? withoutName(in: RawPath(directory), permissions: 0o600) { return unnamed }
    // Create a named file and unlink it.
    var template = Array("\(directory)/.body-XXXXXX".utf8CString)
    let named = mkstemp(&template)
    guard named >= 0 else { throw .last }
    unlink(template)
    _ = fcntl(named, F_SETFD, FD_CLOEXEC)
    return FileDescriptor(owning: named)
  }
}
