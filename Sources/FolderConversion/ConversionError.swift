public import ThumbnailCore

/// Why a conversion did not start or was aborted. The message of each case says in one line what to do.
public enum ConversionError: Error, Sendable, Equatable {
  /// The task was cancelled.
  case cancelled
  /// An option's value is invalid, alone or in combination with others.
  case invalidOption(reason: String)
  /// With the given name template, several images would be written to one file. Nothing was written.
  case collisions([NameCollision])
  /// The output folder cannot be written to.
  case cannotWrite(path: RawPath, reason: String)
  /// Another process holds the lock on the output folder.
  case busy(path: RawPath)

  /// What is wrong and what to do about it, in one line.
  public var message: String {
    switch self {
    case .cancelled: "cancelled before it was done"
    case .invalidOption(let reason): reason
    case .collisions(let collisions):
      (collisions.count == 1 ? "two pictures" : "\(collisions.count) times two pictures")
        + " would write one file, so nothing was written; choose a name template that separates them, such as "
        + "{path}/{name}-{oldext}-{size}.{ext} or one with {hash}, or none: then they are renamed"
    case .cannotWrite(let path, let reason):
      "\(path) cannot be written: \(reason); make room there, or choose another output folder"
    case .busy(let path): "another run writes to \(path); wait for its end, or choose another output folder"
    }
  }
}

/// Two images, or two sizes of one, that would be written to one file.
public struct NameCollision: Sendable, Equatable {
  /// The image that comes first.
  public let first: RawPath
  /// The image that comes later.
  public let second: RawPath
  /// The path relative to the output folder, with `*` for an extension that is not known yet.
  public let output: RawPath

  /// The images and the file, for messages.
  public var message: String { "\(first) and \(second) would both write \(output)" }
}

extension ConversionError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}
