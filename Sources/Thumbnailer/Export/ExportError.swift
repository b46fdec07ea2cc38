/// Why a contact sheet or an exported thumbnail could not be written.
public struct ExportError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The file or folder.
  public let path: String
  /// Why, in the system's words.
  public let reason: String

  /// Names what cannot be written, and why.
  public init(path: String, reason: String) { (self.path, self.reason) = (path, reason) }

  /// What is wrong and what to do about it, in one line.
  public var message: String { "\(path) cannot be written: \(reason); make room there, or choose another place" }

  /// The message.
  public var description: String { message }
}
