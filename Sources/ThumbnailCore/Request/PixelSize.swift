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
  public var pixelCount: Int {
    let (product, overflow) = width.multipliedReportingOverflow(by: height)
    return overflow ? .max : product
  }

  /// The longer side in pixels.
  public var longerSide: Int { max(width, height) }

  /// `400x300`, as `init(parsing:)` reads it.
  public var description: String { "\(width)x\(height)" }

  /// The largest side a thumbnail may have, in pixels: the limit of WebP.
  public static let longestThumbnailSide = 16383

  /// Whether a thumbnail can have this size: both sides from 1 to 16383 pixels.
  public var isValidThumbnailSize: Bool {
    (1...Self.longestThumbnailSide).contains(width) && (1...Self.longestThumbnailSide).contains(height)
  }
}
