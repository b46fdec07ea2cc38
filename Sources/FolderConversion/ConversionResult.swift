public import ThumbnailCore
import Thumbnailer

/// The result of one input.
public struct ConversionResult: Sendable {
  /// The outcomes.
  public enum Status: String, Sendable, Codable, CaseIterable {
    /// All its thumbnails were written in this run.
    case converted
    /// All its thumbnails exist already, made from the current source file with these options.
    case current
    /// It could not be read, or one of its thumbnails could not be made or written. None was written.
    case failed
    /// It was left out: not named like an image, a video, a link that is not followed, or a dry run.
    case skipped
  }

  /// The input, as it was named or found.
  public let source: RawPath
  /// The outcome.
  public let status: Status
  /// Its thumbnails, in the order of the sizes; in a dry run, those that would be made.
  public let outputs: [ConversionOutput]
  /// Why it failed or was skipped.
  public package(set) var failure: ConversionFailure?
  /// How it was decoded: `jpeg 1/8, 750x500 → 256x171`. Nil if it was not.
  package let plan: String?
  /// The small image in the file that its thumbnails were made from; nil for the image itself, and if none was made.
  public internal(set) var preview: UsedPreview?
  /// From the first access to its content to the last byte written, without the time in which its thread wrote another
  /// picture while a helper decoded this one.
  public let duration: Duration
  /// Whether another input has the same name with another extension, so that the thumbnails' names include the source's
  /// extension: `IMG_1.heic.jpg`.
  package internal(set) var isToldApart = false

  /// Whether a dry run would have converted it.
  package var isPlanned: Bool { failure?.code == ConversionFailure.dryRun.code }

  /// Whether a part of the image could not be decoded (`DamagePolicy.accept`).
  package var isDamaged: Bool { outputs.contains(where: \.isDamaged) }
}

/// One thumbnail of an input.
public struct ConversionOutput: Sendable, Equatable {
  /// The path, relative to the output folder.
  public var path: RawPath
  /// Its size in pixels; nil if it was not made by this run and is not in the index.
  public var size: PixelSize?
  /// Its format; nil if it was not made by this run and is not in the index.
  public var format: ImageFormat?
  /// The length of its file in bytes.
  public var byteCount: Int?
  /// Whether its source is damaged, so that a part is missing (`DamagePolicy.accept`).
  public var isDamaged = false

  /// A checksum of its file, if it is known.
  var digest: UInt64?

  /// Makes an output.
  package init(
    path: RawPath, size: PixelSize? = nil, format: ImageFormat? = nil, byteCount: Int? = nil, digest: UInt64? = nil
  ) {
    (self.path, self.size, self.format, self.byteCount) = (path, size, format, byteCount)
    self.digest = digest
  }
}

/// Why an input failed or was skipped.
public struct ConversionFailure: Sendable, Equatable {
  /// The stages of a conversion.
  public enum Stage: String, Sendable, Codable, CaseIterable {
    /// Finding the input.
    case list
    /// Reading its file.
    case read
    /// Reading the header: its format, and whether it is within the limits.
    case header
    /// Decoding the pixels.
    case decode
    /// Encoding the thumbnails.
    case encode
    /// Writing the thumbnails.
    case write
  }

  /// The stage that failed.
  public let stage: Stage
  /// A stable, machine-readable name: `not-found`, `damaged` ….
  public let code: String
  /// One line for the user: the problem and what to do about it.
  public package(set) var message: String
}

extension ConversionFailure {
  /// The code of a video, by its name or its content.
  static let video = "video"
  /// The code of a RAW file or HEIC whose JPEG is converted.
  static let paired = "paired"

  /// The reason for skipping a stale input in a dry run.
  static let dryRun = ConversionFailure(stage: .write, code: "dry-run", message: "would be converted")

  /// The failure for an error of the pipeline.
  init(_ error: ThumbnailError) {
    let stage: Stage =
      switch error {
      case .notAPicture, .video, .noPreview, .unsupportedFormat, .tooLarge, .memoryUnavailable, .invalidRequest: .header
      case .damaged: .decode
      case .cannotEncode, .processingFailed: .encode
      default: .read
      }
    self.init(stage: stage, code: error.code, message: error.message)
  }
}

/// The counts of a conversion.
public struct ConversionSummary: Sendable, Equatable {
  /// Inputs whose thumbnails were written in this run.
  public var converted = 0
  /// Inputs whose thumbnails were up to date.
  public var current = 0
  /// Inputs that failed.
  public var failed = 0
  /// Inputs that were skipped.
  public var skipped = 0
  /// Inputs that were skipped, by the code of the reason: `link`, `video`, `not-named-like-a-picture` ….
  package var skips: [String: Int] = [:]
  /// Inputs, of those skipped, that are videos.
  package var videos: Int { skips[ConversionFailure.video] ?? 0 }
  /// Inputs, of those skipped, whose JPEG is converted (`Options.pairing`).
  package var paired: Int { skips[ConversionFailure.paired] ?? 0 }
  /// Inputs that a dry run would have converted.
  package var planned = 0
  /// Inputs, written or current, that could be decoded only in part.
  public var damaged = 0
  /// Inputs, of those converted, current or skipped in a dry run, whose thumbnails have longer names
  /// (`ConversionResult.isToldApart`).
  package var toldApart = 0
  /// Thumbnails removed as orphans (`Conversion.orphans`).
  public var removed = 0
  /// Orphans that could not be removed.
  package var unremoved = 0
  /// Files of orphans that stay, as they were changed, or are links or inputs by now.
  package var kept: [RawPath] = []
  /// The total time, including the listing.
  public var duration = Duration.zero
  /// Why the run was aborted; nil if it was not.
  public var failure: ConversionError?

  mutating func count(_ result: ConversionResult) {
    if result.isDamaged { damaged += 1 }
    toldApart += result.isToldApart ? 1 : 0
    switch result.status {
    case .converted: converted += 1
    case .current: current += 1
    case .failed: failed += 1
    case .skipped where result.isPlanned: planned += 1
    case .skipped:
      skipped += 1
      if let code = result.failure?.code { skips[code, default: 0] += 1 }
    }
  }
}

/// The reason why a conversion did not start or was aborted. The message of each case says in one line what to do.
public enum ConversionError: Error, Sendable, Equatable, CustomStringConvertible {
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

  /// The problem and what to do about it, in one line.
  public var message: String {
    switch self {
    case .cancelled: "cancelled before it was done"
    case .invalidOption(let reason): reason
    case .collisions(let collisions):
      (collisions.count == 1 ? "two pictures" : "\(collisions.count) times two pictures")
        + " would write one file, so nothing was written; choose a name template that separates them, such as "
        + "{path}/{name}-{oldext}-{size}.{ext} or one with {hash}, or none"
    case .cannotWrite(let path, let reason):
      "\(path) cannot be written: \(reason); \(SystemFailure.advice(reason, choose: "another output folder"))"
    case .busy(let path): "another run writes to \(path); wait for its end, or choose another output folder"
    }
  }

  /// The message.
  public var description: String { message }
}

/// Two images, or two sizes of one, that would be written to one file.
public struct NameCollision: Sendable, Equatable {
  /// The image that comes first.
  package let first: RawPath
  /// The image that comes later.
  package let second: RawPath
  /// The path relative to the output folder, with `*` for an extension that is not known yet.
  package let output: RawPath

  /// The images and the file, for messages.
  public var message: String { "\(first) and \(second) would both write \(output)" }
}
