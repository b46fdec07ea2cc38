/// The requested size of a thumbnail: a box of two sides, or one side with the other left open.
public struct TargetSize: Hashable, Sendable, CustomStringConvertible {
  /// The maximum width in pixels; nil leaves it open.
  public let width: Int?
  /// The maximum height in pixels; nil leaves it open.
  public let height: Int?

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
    switch sides.count {
    case 1:
      guard let length = side(sides[0]) else { return nil }
      (width, height) = (length, length)
    case 2 where sides[1].isEmpty:
      guard let width = side(sides[0]) else { return nil }
      (self.width, height) = (width, nil)
    case 2 where sides[0].isEmpty:
      guard let height = side(sides[1]) else { return nil }
      (width, self.height) = (nil, height)
    case 2:
      guard let width = side(sides[0]), let height = side(sides[1]) else { return nil }
      (self.width, self.height) = (width, height)
    default: return nil
    }
    guard box.isValidThumbnailSize else { return nil }
  }

  /// Whether one side is left open.
  public var isOpen: Bool { width == nil || height == nil }

  /// The box that the image is fitted into: an open side has the maximum length of a thumbnail's side.
  public var box: PixelSize {
    PixelSize(width ?? PixelSize.longestThumbnailSide, height ?? PixelSize.longestThumbnailSide)
  }

  /// As `init(parsing:)` reads it: `400x300`, `400x`, `x300`.
  public var description: String {
    (width.map { "\($0)" } ?? "") + "x" + (height.map { "\($0)" } ?? "")
  }
}
