import ThumbnailCore

/// Why a contact sheet or an exported thumbnail could not be written.
public struct ExportError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The file or folder.
  public let path: String
  /// Why, in the system's words.
  public let reason: String

  /// Whether what follows could not be written either: the disk is full, or cannot be written to.
  public let endsRun: Bool

  /// Names what cannot be written, and why.
  public init(path: String, reason: String, endsRun: Bool = false) {
    (self.path, self.reason, self.endsRun) = (path, reason, endsRun)
  }

  init(path: String, _ failure: SystemFailure) {
    self.init(path: path, reason: failure.reason, endsRun: failure.endsRun)
  }

  /// What is wrong and what to do about it, in one line.
  public var message: String { "\(path) cannot be written: \(reason); make room there, or choose another place" }

  /// The message.
  public var description: String { message }
}
