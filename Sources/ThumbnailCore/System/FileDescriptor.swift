import Foundation
import Synchronization

/// An open file that closes itself when the last owner lets go.
///
/// The descriptor may be read from several threads with positioned reads; nobody else closes it.
package final class FileDescriptor: Sendable {
  /// The kernel's number for the open file; valid as long as this object lives.
  package let rawValue: Int32
  private let isLocked = Atomic(false)
  /// What is let go of when the file is closed, such as a share of memory.
  private let kept: (any AnyObject & Sendable)?

  /// Takes over `rawValue`, which must be open and owned by the caller, and keeps something alive as long as the file is
  /// open.
  package init(owning rawValue: Int32, keeping kept: (any AnyObject & Sendable)? = nil) {
    self.rawValue = rawValue
    self.kept = kept
  }

  /// Whether the file's bytes take a share of memory.
  var holdsMemory: Bool { kept != nil }

  deinit {
    // Closing would do, but for a child that is just being started: until it is another program it has a copy of the
    // descriptor, and with it the lock.
    if isLocked.load(ordering: .relaxed) { flock(rawValue, LOCK_UN) }
    close(rawValue)
  }

  /// Takes the exclusive lock on the file, which goes with this object. False, without waiting, when somebody has it.
  package func lock() -> Bool {
    guard flock(rawValue, LOCK_EX | LOCK_NB) == 0 else { return false }
    isLocked.store(true, ordering: .relaxed)
    return true
  }

  /// Glibc declares `O_TMPFILE` for GNU sources only.
  private static let withoutName: Int32 = 0o20000000 | O_DIRECTORY

  /// A new file in a directory, open for reading and writing, that nobody sees and that is gone with its last descriptor,
  /// even when the process is killed.
  package static func unnamed(in directory: String) throws(SystemFailure) -> FileDescriptor {
    let unnamed = open(directory, withoutName | O_RDWR | O_CLOEXEC, 0o600)
    if unnamed >= 0 { return FileDescriptor(owning: unnamed) }
    // Network and overlay file systems may not know files without a name: make one and take its name away.
    var template = Array("\(directory)/.body-XXXXXX".utf8CString)
    let named = mkstemp(&template)
    guard named >= 0 else { throw .last }
    unlink(template)
    _ = fcntl(named, F_SETFD, FD_CLOEXEC)
    return FileDescriptor(owning: named)
  }
}
