import Synchronization

/// Everything that distinguishes one thumbnail of an image from another.
///
/// Two variants are the same thumbnail exactly when all their values are equal.
public struct Variant: Hashable, Sendable {
  /// The box, in device pixels.
  public var size: PixelSize
  /// How the image is fitted into the box.
  public var fit: Fit
  /// The part that `cover` keeps; ignored for the other fits.
  public var gravity: Gravity
  /// The format of the thumbnail.
  public var format: OutputFormat
  /// The encoder's quality, 1 to 100; ignored for PNG.
  public var quality: Int
  /// The colour behind transparent parts. Nil keeps them transparent if the format can; JPEG then uses white.
  public var background: RGBColor?
  /// Whether an image smaller than the box is enlarged.
  public var enlarges: Bool
  /// The encoder's effort to save bytes, from 0, the fastest, to 9. Nil: a default for most images.
  public var effort: Int?
  /// Which metadata of the image is kept.
  public var metadata = MetadataPolicy.none
  /// Which frames of an animated image are shown.
  package var frames = FrameSelection.first
  /// The `ThumbnailProcessor` that changes the pixels before they are encoded, by its name. Nil: none.
  package var processor: String?
  /// Changes of the image's outline.
  package var framing: Framing {
    get { framed?.framing ?? Framing() }
    set { framed = newValue == Framing() ? nil : Framed(newValue) }
  }
  /// Nil: no changes. A reference, because few of the thousands of variants in memory have a framing.
  private var framed: Framed?

  /// A variant; the defaults show the whole image, as the commands do.
  public init(
    size: PixelSize, fit: Fit = .contain, gravity: Gravity = .centre, format: OutputFormat = .auto, quality: Int = 80,
    background: RGBColor? = nil, enlarges: Bool = false, effort: Int? = nil, metadata: MetadataPolicy = .none,
    processor: String? = nil
  ) {
    self.init(
      size: size, fit: fit, gravity: gravity, format: format, quality: quality, background: background,
      enlarges: enlarges, effort: effort, metadata: metadata, frames: .first, processor: processor)
  }

  /// A variant with what the commands need besides.
  package init(
    size: PixelSize, fit: Fit = .contain, gravity: Gravity = .centre, format: OutputFormat = .auto, quality: Int = 80,
    background: RGBColor? = nil, enlarges: Bool = false, effort: Int? = nil,
    metadata: MetadataPolicy = .none, frames: FrameSelection = .first, processor: String? = nil,
    framing: Framing = Framing()
  ) {
    self.size = size
    self.fit = fit
    self.gravity = fit == .cover || fit == .auto ? gravity : .centre
    self.format = format
    self.quality = quality
    self.background = background
    self.enlarges = enlarges
    self.effort = effort
    self.metadata = metadata
    self.frames = frames
    self.processor = processor
    self.framing = framing
  }

  /// The version of the tokens. It is raised only if older thumbnails must not be used any more. A change of pixels does
  /// not raise it.
  package static let encoderVersion = 1

  /// The variant as a short string, as it is stored: `1;400x400;cover;centre;auto;80;good;-;0`. `good` and `display` are
  /// constants, of which 0.10.0 had others. Rarely used options are
  /// appended if they are set: `;-;profile;all`, and `;-;none;first;display;blur-3`. A framing
  /// comes last: `;@c300.0:200.0:centre:0.0:0.0:1`.
  package var token: String { framed.map { "\(unframed);\($0.framing.token)" } ?? unframed }

  private var unframed: String {
    let rare = (effort: effort.map { "\($0)" } ?? "-", metadata: metadata.rawValue, frames: frames.rawValue)
    if processor == nil && rare == ("-", "none", "first") { return common }
    return "\(common);\(rare.effort);\(rare.metadata);\(rare.frames)\(processor.map { ";display;\($0)" } ?? "")"
  }

  private var common: String {
    "\(Self.encoderVersion);\(size);\(fit.rawValue);\(gravity.rawValue);\(format.rawValue);\(quality);"
      + "good;\(background?.hex ?? "-");\(enlarges ? 1 : 0)"
  }

  /// Parses a token. Nil for another encoder version, and for a text that `token` does not return.
  package init?(token: String) {
    var parts = token.split(separator: Character(";"), omittingEmptySubsequences: false).map { String($0) }
    let framing = parts.last.flatMap { $0.hasPrefix("@") ? $0 : nil }
    if framing != nil { parts.removeLast() }
    self.init(parts: parts)
    if let framing {
      guard let framing = Framing(token: framing) else { return nil }
      self.framing = framing
    }
    // Numbers can be written in other ways, such as `0400`.
    guard self.token == token else { return nil }
  }

  private init?(parts: [String]) {
    guard [9, 12, 14].contains(parts.count), parts[0] == "\(Self.encoderVersion)",
      let size = PixelSize(parsing: parts[1]),
      size.isValidThumbnailSize,
      let fit = Fit(rawValue: parts[2]), let gravity = Gravity(rawValue: parts[3]),
      let format = OutputFormat(rawValue: parts[4]), let quality = Int(parts[5]),
      parts[6] == "good", parts[7] == "-" || RGBColor(hex: parts[7]) != nil
    else { return nil }
    self.init(
      size: size, fit: fit, gravity: gravity, format: format, quality: quality,
      background: RGBColor(hex: parts[7]), enlarges: parts[8] == "1")
    guard parts.count > 9 else { return }
    guard parts[9] == "-" || Int(parts[9]) != nil, let metadata = MetadataPolicy(rawValue: parts[10]),
      let frames = FrameSelection(rawValue: parts[11])
    else { return nil }
    (effort, self.metadata, self.frames) = (Int(parts[9]), metadata, frames)
    guard parts.count > 12 else { return }
    guard parts[12] == "display", ThumbnailProcessor.problem(parts[13]) == nil else { return nil }
    processor = parts[13]
  }

  /// Whether a thumbnail of this variant can be made by shrinking a stored one of `other`: equal except for the size,
  /// of the same aspect ratio, and at least twice as large in both directions. Never if a processor has changed pixels,
  /// or a framing is in pixels.
  package func canBeShrunk(from other: Variant) -> Bool {
    var resized = other
    resized.size = size
    return resized == self && processor == nil && framed == nil && other.size.width >= 2 * size.width
      && other.size.height >= 2 * size.height
      && other.size.width * size.height == other.size.height * size.width
  }
}

/// A framing behind a reference.
private final class Framed: Hashable, Sendable {
  let framing: Framing

  init(_ framing: Framing) { self.framing = framing }

  static func == (one: Framed, other: Framed) -> Bool { one === other || one.framing == other.framing }

  func hash(into hasher: inout Hasher) { hasher.combine(framing) }
}

/// Which metadata of the source image the thumbnail keeps.
public enum MetadataPolicy: String, Sendable, Codable, CaseIterable {
  /// None: sRGB without a profile, which software assumes for an image without one.
  case none
  /// The image's own colours with their ICC profile, so that wide gamuts are kept. CMYK is converted to sRGB all the
  /// same.
  case profile
}

/// Which frames of an animated image the thumbnail shows.
package enum FrameSelection: String, Sendable, Codable, CaseIterable {
  /// The first.
  case first
  /// All frames of an animated GIF or WebP, if the thumbnail's format can be animated: WebP, `auto` (as WebP) and
  /// `same`. Otherwise the first frame.
  case all
}

extension Variant {
  /// A message that says why the variant is invalid and what to do; nil if it is valid.
  package var problem: String? {
    if !size.isValidThumbnailSize {
      return
        "a thumbnail of \(size) cannot be made: each side must be from 1 to \(PixelSize.longestThumbnailSide) pixels"
    }
    if !(1...100).contains(quality) { return "quality \(quality) cannot be used: it must be from 1 to 100" }
    if let effort, !(0...9).contains(effort) { return "effort \(effort) cannot be used: it must be from 0 to 9" }
    return processor.flatMap { ThumbnailProcessor.problem($0) } ?? framing.problem(with: fit)
  }

  /// Whether the image's content decides the crop.
  package var searchesContent: Bool {
    gravity.isByContent || framing.crop?.gravity.isByContent == true
  }
}

/// A value that is computed at its first use, once for all copies of its owner. All memos are equal, because the value
/// follows from the owner's other properties.
package final class Memo<Value: Sendable>: Sendable, Equatable {
  private let made = Mutex<Value?>(nil)

  package init() {}

  /// The value, computed at the first call.
  package func value(_ make: () -> Value) -> Value {
    made.withLock { made in
      if let made { return made }
      let value = make()
      made = value
      return value
    }
  }

  package static func == (one: Memo, other: Memo) -> Bool { true }
}
