/// A width and a height in device pixels.
public struct PixelSize: Hashable, Sendable, Codable, CustomStringConvertible {
  /// Pixels across.
  public var width: Int
  /// Pixels down.
  public var height: Int

  /// A size of `width` × `height` device pixels.
  public init(_ width: Int, _ height: Int) {
    self.width = width
    self.height = height
  }

  /// Reads `400x300`. Nil when the text is anything else or a side is not a positive number.
  public init?(parsing text: some StringProtocol) {
    let sides = text.split(separator: "x", omittingEmptySubsequences: false)
    guard sides.count == 2, sides.allSatisfy({ $0.allSatisfy { $0.isASCII && $0.isNumber } }),
      let width = Int(sides[0]), let height = Int(sides[1]), width > 0, height > 0
    else { return nil }
    self.init(width, height)
  }

  /// The number of pixels; saturates instead of overflowing.
  package var pixelCount: Int {
    let (product, overflow) = width.multipliedReportingOverflow(by: height)
    return overflow ? .max : product
  }

  /// The longer side in pixels.
  package var longerSide: Int { max(width, height) }

  /// `400x300`, as `init(parsing:)` reads it.
  public var description: String { "\(width)x\(height)" }

  /// The largest side a thumbnail may have, in pixels: the limit of WebP.
  package static let longestThumbnailSide = 16383

  /// Whether a thumbnail can have this size: both sides from 1 to 16383 pixels.
  package var isValidThumbnailSize: Bool {
    (1...Self.longestThumbnailSide).contains(width) && (1...Self.longestThumbnailSide).contains(height)
  }
}

/// The requested size of a thumbnail: a box of two sides, or one side with the other left open.
public struct TargetSize: Hashable, Sendable, CustomStringConvertible {
  /// The maximum width in pixels; nil leaves it open.
  package let width: Int?
  /// The maximum height in pixels; nil leaves it open.
  package let height: Int?

  /// A box of `width` × `height` pixels. A side of the maximum length counts as left open, as in `box`.
  public init(_ size: PixelSize) {
    let longest = PixelSize.longestThumbnailSide
    width = size.width == longest && size.height < longest ? nil : size.width
    height = size.height == longest && size.width < longest ? nil : size.height
  }

  /// Reads `400x300`, `400` (a square box), `400x` (the width alone) or `x300` (the height alone), as `vipsthumbnail`
  /// does. Nil for anything else, and for sides longer than a thumbnail can have.
  public init?(parsing text: some StringProtocol) {
    func side(_ text: some StringProtocol) -> Int? {
      guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      return Int(text)
    }
    let sides = text.split(separator: Character("x"), omittingEmptySubsequences: false)
    guard sides.count <= 2, sides.contains(where: { !$0.isEmpty }),
      sides.allSatisfy({ $0.isEmpty || side($0) != nil })
    else { return nil }
    (width, height) = (side(sides[0]), side(sides[sides.count - 1]))
    guard box.isValidThumbnailSize else { return nil }
  }

  /// Whether one side is left open.
  package var isOpen: Bool { width == nil || height == nil }

  /// The box that the image is fitted into: an open side has the maximum length of a thumbnail's side.
  package var box: PixelSize {
    PixelSize(width ?? PixelSize.longestThumbnailSide, height ?? PixelSize.longestThumbnailSide)
  }

  /// As `init(parsing:)` reads it: `400x300`, `400x`, `x300`.
  public var description: String {
    (width.map { "\($0)" } ?? "") + "x" + (height.map { "\($0)" } ?? "")
  }
}
