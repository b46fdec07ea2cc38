import Foundation

/// An open file that closes itself when the last owner lets go.
///
/// The descriptor may be read from several threads with positioned reads; nobody else closes it.
final class FileDescriptor: Sendable {
  /// The kernel's number for the open file; valid as long as this object lives.
  let rawValue: Int32

  /// Takes over `rawValue`, which must be open and owned by the caller.
  init(owning rawValue: Int32) {
    self.rawValue = rawValue
  }

  deinit {
    close(rawValue)
  }
}
