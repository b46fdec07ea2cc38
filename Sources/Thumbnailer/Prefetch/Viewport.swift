/// The visible part of a scrolling content at one moment.
public struct Viewport: Sendable, Hashable {
  /// The distance from the upper edge of the content to that of the view, in points. Negative, or beyond the content,
  /// during overscroll.
  public var offset: Double
  /// The height of the view, in points.
  public var height: Double
  /// The time of the scroll event. Speeds are computed from successive viewports.
  public var time: ContinuousClock.Instant

  /// A viewport; values that are not finite are replaced by 0.
  public init(offset: Double, height: Double, time: ContinuousClock.Instant = .now) {
    self.offset = offset.isFinite ? offset : 0
    self.height = height.isFinite ? max(0, height) : 0
    self.time = time
  }

  /// The lower edge of the view, in points.
  public var bottom: Double { offset + height }
}

/// The direction of a scroll.
public enum ScrollDirection: Sendable, Hashable {
  /// Towards the end of the content: offsets grow.
  case down
  /// Towards the start of the content: offsets shrink.
  case up

  /// The other direction.
  public var reversed: ScrollDirection { self == .down ? .up : .down }
}
