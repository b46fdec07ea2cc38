/// What of a scrolling content is in view at one moment.
public struct Viewport: Sendable, Hashable {
  /// From the upper edge of the content to that of the view, in points. Less than 0, or beyond the content, while the
  /// view is pulled over an end.
  public var offset: Double
  /// The height of the view, in points.
  public var height: Double
  /// When that was so. Speeds follow from successive viewports, so it should be the moment of the scroll event.
  public var time: ContinuousClock.Instant

  /// A viewport; values that are not finite are taken for 0.
  public init(offset: Double, height: Double, time: ContinuousClock.Instant = .now) {
    self.offset = offset.isFinite ? offset : 0
    self.height = height.isFinite ? max(0, height) : 0
    self.time = time
  }

  /// The lower edge of the view, in points.
  public var bottom: Double { offset + height }
}

/// Where a scroll goes.
public enum ScrollDirection: Sendable, Hashable {
  /// To the end of the content: offsets grow.
  case down
  /// To the beginning of the content: offsets shrink.
  case up

  /// The other direction.
  public var reversed: ScrollDirection { self == .down ? .up : .down }
}
