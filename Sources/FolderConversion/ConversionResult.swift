public import ThumbnailCore
import Thumbnailer

/// What came of one input.
public struct ConversionResult: Sendable {
  /// How it ended.
  public enum Status: String, Sendable, Codable, CaseIterable {
    /// All its thumbnails were written now.
    case converted
    /// All its thumbnails are there already, made of this state of the source with these options.
    case current
    /// It could not be read, or one of its thumbnails could not be made or written. None was written.
    case failed
    /// It was left alone: no picture by its name, a link that is not followed, or a dry run.
    case skipped
  }

  /// The place of the input among all, from 0. What could not be listed comes after the others.
  public let index: Int
  /// The input, as it was named or found.
  public let source: RawPath
  /// How it ended.
  public let status: Status
  /// Its thumbnails, in the order of the sizes; those that would be made in a dry run.
  public let outputs: [ConversionOutput]
  /// Why it failed or was skipped.
  public let failure: ConversionFailure?
  /// How it was read: `jpeg 1/8, 750x500 → 256x171`. Nil where it was not.
  public let plan: String?
  /// From the first look at its content to the last byte written.
  public let duration: Duration
  /// Whether another input has the same name but for its extension, so that the thumbnails' names keep more of their
  /// own's: `IMG_1.heic.jpg`.
  public internal(set) var isToldApart = false
  /// Its thumbnails of an earlier run that were removed, from the output folder on, because their names are others now
  /// that another input has the same name, or no longer has. In a dry run those that would be.
  public internal(set) var replaced: [RawPath] = []

  /// Whether a dry run would have converted it.
  public var isPlanned: Bool { failure?.code == ConversionFailure.dryRun.code }

  /// Whether a part of the picture could not be read (`DamagePolicy.accept`).
  public var isDamaged: Bool { outputs.contains(where: \.isDamaged) }
}

/// One thumbnail of an input.
public struct ConversionOutput: Sendable, Equatable {
  /// Where it is, from the output folder on.
  public var path: RawPath
  /// Its size in pixels; nil where it was not made by this run and no index tells.
  public var size: PixelSize?
  /// Its format; nil where it was not made by this run and no index tells.
  public var format: ImageFormat?
  /// The length of its file in bytes.
  public var byteCount: Int?
  /// Whether its picture is damaged, and a part of it is missing here (`DamagePolicy.accept`).
  public var isDamaged = false

  /// Describes a thumbnail.
  public init(path: RawPath, size: PixelSize? = nil, format: ImageFormat? = nil, byteCount: Int? = nil) {
    (self.path, self.size, self.format, self.byteCount) = (path, size, format, byteCount)
  }
}

/// Why an input failed or was skipped.
public struct ConversionFailure: Error, Sendable, Equatable {
  /// How far it had come.
  public enum Stage: String, Sendable, Codable, CaseIterable {
    /// Finding it.
    case list
    /// Reading its file.
    case read
    /// Its header: what it is, and whether it may be decoded.
    case header
    /// Its pixels.
    case decode
    /// Writing them in the format asked for.
    case encode
    /// Storing the thumbnails.
    case write
  }

  /// How far it had come.
  public let stage: Stage
  /// A short, lasting name for programs: `not-found`, `damaged` ….
  public let code: String
  /// One line for people: what is wrong and what to do about it.
  public let message: String
}

extension ConversionFailure {
  /// Why a dry run leaves an input alone that is not current.
  static let dryRun = ConversionFailure(stage: .write, code: "dry-run", message: "would be converted")

  /// Why a picture gave no thumbnail.
  init(_ error: ThumbnailError) {
    let stage: Stage =
      switch error {
      case .notAPicture, .unsupportedFormat, .tooLarge, .memoryUnavailable, .invalidRequest: .header
      case .damaged: .decode
      case .cannotEncode: .encode
      default: .read
      }
    self.init(stage: stage, code: error.code, message: error.message)
  }
}

/// The counts of a conversion.
public struct ConversionSummary: Sendable, Equatable {
  /// Inputs whose thumbnails were written.
  public var converted = 0
  /// Inputs whose thumbnails were there already.
  public var current = 0
  /// Inputs that gave none.
  public var failed = 0
  /// Inputs that were left alone.
  public var skipped = 0
  /// Inputs that a dry run would have converted.
  public var planned = 0
  /// Inputs, written or current, of which only a part could be read.
  public var damaged = 0
  /// Inputs, of those converted, current or skipped in a dry run, that are told apart from others of the same name.
  public var toldApart = 0
  /// Thumbnails removed because their pictures' are named otherwise now.
  public var replaced = 0
  /// Thumbnails removed because their pictures are gone.
  public var removed = 0
  /// From the start to the end, the listing included.
  public var duration = Duration.zero
  /// Why the run was given up before its end; nil when it was not.
  public var failure: ConversionError?

  mutating func count(_ result: ConversionResult) {
    if result.isDamaged { damaged += 1 }
    toldApart += result.isToldApart ? 1 : 0
    replaced += result.replaced.count
    switch result.status {
    case .converted: converted += 1
    case .current: current += 1
    case .failed: failed += 1
    case .skipped where result.isPlanned: planned += 1
    case .skipped: skipped += 1
    }
  }
}
