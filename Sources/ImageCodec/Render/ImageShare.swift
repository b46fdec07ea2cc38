import ThumbnailCore

/// A rectangular part of an image, in fractions of its sides, so that it applies to every plane.
struct ImageShare: Sendable, Equatable {
  var across: AxisShare
  var down: AxisShare

  /// The part `region` of an image, which is itself the part `visible` of the stored pixels.
  init(of region: PixelRectangle, in image: PixelSize, of visible: PixelRectangle, in stored: PixelSize) {
    func share(_ start: Int, _ length: Int, _ whole: Int, _ from: Int, _ shown: Int, _ all: Int) -> AxisShare {
      AxisShare(start: from * whole + start * shown, length: length * shown, whole: whole * all)
    }
    across = share(
      region.x, region.size.width, image.width, visible.x, visible.size.width, stored.width)
    down = share(
      region.y, region.size.height, image.height, visible.y, visible.size.height, stored.height)
  }

  /// The pixels that it touches of an image of this size.
  func pixels(of size: PixelSize) -> PixelRectangle {
    PixelRectangle(
      columns: across.samples(of: Double(size.width), count: size.width).range,
      rows: down.samples(of: Double(size.height), count: size.height).range)
  }

  /// The same part of a part of the image, which is of this size.
  func within(_ part: PixelRectangle, of size: PixelSize) -> ImageShare {
    var share = self
    share.across = across.within(part.columns, of: size.width)
    share.down = down.within(part.rows, of: size.height)
    return share
  }
}

/// The part of one axis, as fractions with one denominator.
struct AxisShare: Sendable, Equatable {
  var start: Int
  var length: Int
  var whole: Int

  static let all = AxisShare(start: 0, length: 1, whole: 1)

  /// The same part within a range of `count` samples. In lowest terms, so that products are exact.
  fileprivate func within(_ range: Range<Int>, of count: Int) -> AxisShare {
    let parts = (start * count - range.lowerBound * whole, length * count, whole * range.count)
    let divisor = Self.divisor(parts.0, Self.divisor(parts.1, parts.2))
    return AxisShare(start: parts.0 / divisor, length: parts.1 / divisor, whole: parts.2 / divisor)
  }

  private static func divisor(_ a: Int, _ b: Int) -> Int { b == 0 ? max(1, a) : divisor(b, a % b) }

  /// The samples that the part touches, of `count` samples of which the image covers `extent`; the place in the first
  /// of them where it begins, and the number that it covers.
  func samples(of extent: Double, count: Int) -> AxisSamples {
    if self == .all { return AxisSamples(range: 0..<count, origin: 0, extent: extent) }
    let from = Double(start) * extent / Double(whole)
    let to = Double(start + length) * extent / Double(whole)
    let first = min(count - 1, Int(from))
    let range = first..<min(count, max(first + 1, Int(to.rounded(.up))))
    return AxisSamples(range: range, origin: from - Double(first), extent: to - from)
  }
}

/// Samples of one axis, the place in the first of them where a part begins, and the number that it covers.
struct AxisSamples {
  var range: Range<Int>
  var origin: Double
  let extent: Double

  /// Adds one sample on each side, within `count`.
  mutating func widen(within count: Int) {
    let wider = max(0, range.lowerBound - 1)..<min(count, range.upperBound + 1)
    origin += Double(range.lowerBound - wider.lowerBound)
    range = wider
  }
}
