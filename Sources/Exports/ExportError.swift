import ThumbnailCore

/// Why a contact sheet or an exported thumbnail could not be written.
public struct ExportError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The file or folder.
  public let path: String
  /// The reason, in the system's words.
  public let reason: String

  /// Whether later writes would fail as well, because the disk is full or read-only.
  public let endsRun: Bool

  /// Makes an error.
  public init(path: String, reason: String, endsRun: Bool = false) {
    (self.path, self.reason, self.endsRun) = (path, reason, endsRun)
  }

  init(path: String, _ failure: SystemFailure) {
    self.init(path: path, reason: failure.reason, endsRun: failure.endsRun)
  }

  /// The problem and what to do about it, in one line.
  public var message: String { "\(path) cannot be written: \(reason); make room there, or choose another place" }

  /// The message.
  public var description: String { message }
}
