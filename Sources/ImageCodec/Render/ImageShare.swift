import ThumbnailCore

/// A rectangular part of an image, in shares of its sides, so that it applies to every plane.
struct ImageShare: Sendable, Equatable {
  var across: AxisShare
  var down: AxisShare

  /// The part `region` of an image, which is itself the part `visible` of what is stored.
  init(of region: PixelRectangle, in image: PixelSize, of visible: PixelRectangle, in stored: PixelSize) {
    func share(_ start: Int, _ length: Int, _ whole: Int, _ from: Int, _ shown: Int, _ all: Int) -> AxisShare {
      AxisShare(start: from * whole + start * shown, length: length * shown, whole: whole * all)
    }
    across = share(
      region.x, region.size.width, image.width, visible.x, visible.size.width, stored.width)
    down = share(
      region.y, region.size.height, image.height, visible.y, visible.size.height, stored.height)
  }
}

/// The part of one axis, as fractions with one denominator.
struct AxisShare: Sendable, Equatable {
  var start: Int
  var length: Int
  var whole: Int

  static let all = AxisShare(start: 0, length: 1, whole: 1)

  /// The samples that the part touches, of `count` of which the image covers `extent`; where it begins in the first of
  /// them, and how many it covers.
  func samples(of extent: Double, count: Int) -> (range: Range<Int>, origin: Double, extent: Double) {
    if self == .all { return (0..<count, 0, extent) }
    let from = Double(start) * extent / Double(whole)
    let to = Double(start + length) * extent / Double(whole)
    let first = min(count - 1, Int(from))
    return (first..<min(count, max(first + 1, Int(to.rounded(.up)))), from - Double(first), to - from)
  }
}
