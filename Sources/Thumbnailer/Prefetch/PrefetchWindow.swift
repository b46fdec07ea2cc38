/// The prefetch window: the items to load, and their order. It follows from the layout, the viewport and its motion,
/// and the time to load an image.
///
/// An item that leaves the view before its image can arrive is not worth requesting. So the `focus` is the predicted
/// view at the time when an image requested now arrives. At rest these are the visible items; in a fling they are
/// ahead, at most where it will come to rest.
struct PrefetchWindow: Sendable, Equatable {
  /// The direction of the scroll.
  var direction = ScrollDirection.down
  /// The items currently in view.
  var visible = 0..<0
  /// The items in view when an image requested now arrives.
  var focus = 0..<0
  /// The next items in the direction of the scroll.
  var ahead = 0..<0
  /// The items behind, which the scroll has passed and would reach if it turned.
  var behind = 0..<0
  /// A larger range around them, in which running requests continue but no new ones start.
  var kept = 0..<0

  init() {}

  /// The window of a viewport, if images take `pace` and `parallel` are fetched at once.
  init(
    layout: GridLayout, viewport: Viewport, motion: ScrollMotion, at time: ContinuousClock.Instant, pace: FetchPace,
    parallel: Int, options: Prefetcher.Options
  ) {
    let height = viewport.height
    direction = motion.direction
    visible = layout.items(from: viewport.offset, height: height)
    // A view scrolled beyond an end bounces back to it.
    let end = max(0, layout.contentHeight - height)
    let offset = min(max(viewport.offset, 0), end)
    let lead = motion.travel(in: pace.secondsPerPicture, from: time)
    let focusOffset = min(max(offset + lead, 0), end)
    focus = layout.items(from: focusOffset, height: height)
    let reach = max(
      options.screensAhead * height,
      Self.reach(layout: layout, speed: abs(motion.velocity(at: time)), pace: pace, parallel: parallel))
    let back = options.screensBehind * height
    let (top, bottom) = (min(offset, focusOffset), max(offset, focusOffset) + height)
    switch direction {
    case .down:
      ahead = focus.upperBound..<max(focus.upperBound, layout.items(from: bottom, height: reach).upperBound)
      let first = layout.items(from: top - back, height: back + height).lowerBound
      behind = min(first, visible.lowerBound)..<min(visible.lowerBound, focus.lowerBound)
    case .up:
      let first = layout.items(from: top - reach, height: reach + height).lowerBound
      ahead = min(first, focus.lowerBound)..<focus.lowerBound
      let last = layout.items(from: top, height: bottom - top + back).upperBound
      let edge = max(visible.upperBound, focus.upperBound)
      behind = edge..<max(edge, last)
    }
    let margin = height / 2
    let (above, below) = direction == .down ? (back, reach) : (reach, back)
    kept = layout.items(from: top - above - margin, height: bottom - top + above + below + 2 * margin)
    for part in [visible, focus, ahead, behind] where !part.isEmpty {
      kept = kept.isEmpty ? part : min(kept.lowerBound, part.lowerBound)..<max(kept.upperBound, part.upperBound)
    }
  }

  /// How far beyond the viewport images must be requested to arrive in time, in points.
  ///
  /// The viewport moves by `speed` × the time per image while one is fetched. The closer the demand comes to the
  /// capacity, the longer requests queue: by a factor of 1/(1 - load), at most four. Doubled, because half of the
  /// images take longer than the average.
  private static func reach(layout: GridLayout, speed: Double, pace: FetchPace, parallel: Int) -> Double {
    let distance = speed * pace.secondsPerPicture
    let cells = Double(layout.columns) / layout.rowPitch * distance
    let load = min(cells / Double(max(1, parallel)), 0.75)
    return 2 * distance / (1 - load)
  }

  /// The items of the focus, in the order in which the scroll reaches them.
  var focusInOrder: StrideTo<Int> { direction.order(focus) }

  /// The other items in the order of their requests: ahead, nearest first, then behind, nearest first.
  var restInOrder: [StrideTo<Int>] { [direction.order(ahead), direction.reversed.order(behind)] }
}

/// The measured cost of fetching one image; the averages decide how far ahead of the viewport to prefetch.
///
/// Exponential moving averages: each new measurement has a weight of an eighth. The initial values are guesses for a
/// photograph over a home connection.
struct FetchPace: Sendable {
  private static let weight = 0.125

  /// The time from request to thumbnail in seconds, with other requests running concurrently. From 20 ms to 3 s.
  private(set) var secondsPerPicture = 0.3
  /// The downloaded bytes per image.
  private(set) var bytesPerPicture = 150_000.0
  private var isMeasured = false

  /// Adds the measurement of one downloaded and rendered image.
  mutating func record(_ duration: Duration, bytes: Int) {
    let seconds = min(max(duration.seconds, 0.02), 3)
    let weight = isMeasured ? Self.weight : 1
    isMeasured = true
    secondsPerPicture += (seconds - secondsPerPicture) * weight
    bytesPerPicture += (Double(bytes) - bytesPerPicture) * weight
  }

  /// The time after which a request counts as slow: it no longer delays others, because its delay is not caused by the
  /// link.
  var patience: Duration { .seconds(max(1, 4 * secondsPerPicture)) }
}
