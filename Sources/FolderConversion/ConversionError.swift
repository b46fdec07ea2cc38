public import ThumbnailCore

/// Why a conversion did not begin, or was given up before its end. Every case says in one line what to do.
public enum ConversionError: Error, Sendable, Equatable {
  /// The task was cancelled.
  case cancelled
  /// A value cannot be used, alone or with the others.
  case invalidOption(reason: String)
  /// Several pictures would write one file by the name template that was given. Nothing was written.
  case collisions([NameCollision])
  /// The output folder cannot be written to.
  case cannotWrite(path: RawPath, reason: String)
  /// Another process converts into the same folder.
  case busy(path: RawPath)

  /// What is wrong and what to do about it, in one line.
  public var message: String {
    switch self {
    case .cancelled: "cancelled before it was done"
    case .invalidOption(let reason): reason
    case .collisions(let collisions):
      (collisions.count == 1 ? "two pictures" : "\(collisions.count) times two pictures")
        + " would write one file, so nothing was written; tell them apart with a name template such as "
        + "{path}/{name}-{oldext}-{size}.{ext} or one with {hash}, or give none: then they are told apart"
    case .cannotWrite(let path, let reason):
      "\(path) cannot be written: \(reason); make room there, or choose another output folder"
    case .busy(let path): "another run writes to \(path); wait for its end, or choose another output folder"
    }
  }
}

/// Two pictures, or two sizes of one, that would write one file.
public struct NameCollision: Sendable, Equatable {
  /// The picture that comes first.
  public let first: RawPath
  /// The one that comes later.
  public let second: RawPath
  /// The path below the output folder, with `*` for an end that is not known yet.
  public let output: RawPath

  /// Which pictures, and which file.
  public var message: String { "\(first) and \(second) would both write \(output)" }
}

extension ConversionError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}
