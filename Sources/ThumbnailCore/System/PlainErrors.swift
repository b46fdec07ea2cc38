/// A text or value that cannot be used.
public struct InvalidValue: Error, Sendable, Equatable, CustomStringConvertible {
  /// The problem and what to do about it, in one line.
  package let message: String
  /// The message.
  public var description: String { message }

  package init(_ message: String) { self.message = message }
}

/// Why a file or folder could not be written.
package struct FileWriteError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The file or folder.
  package let path: String
  /// The reason, in the system's words.
  package let reason: String
  /// Whether later writes would fail as well, because the disk is full or read-only.
  package let endsRun: Bool

  package init(path: String, reason: String, endsRun: Bool = false) {
    (self.path, self.reason, self.endsRun) = (path, reason, endsRun)
  }

  package init(path: String, _ failure: SystemFailure) {
    self.init(path: path, reason: failure.reason, endsRun: failure.endsRun)
  }

  /// The problem and what to do about it, in one line.
  package var message: String { message(choose: "another place") }
  /// The message.
  package var description: String { message }

  /// The message with the alternative, such as “another --sheet”.
  package func message(choose other: String) -> String {
    "\(path) cannot be written: \(reason); \(SystemFailure.advice(reason, choose: other))"
  }
}
