/// Which items are worth fetching at one moment, and in what order: a consequence of the layout, the viewport and its
/// motion, and the time that a picture takes.
///
/// What will have left the view before its picture can be there is not worth beginning. So the view is looked at as it
/// will be when a picture that is begun now arrives: those items are the `focus`. At rest they are the ones in view; in a
/// fling they lie ahead, at most where it will come to rest.
struct PrefetchWindow: Sendable, Equatable {
  /// Where the scroll goes.
  var direction = ScrollDirection.down
  /// What is in view now.
  var visible = 0..<0
  /// What will be in view when a picture that is begun now is there.
  var focus = 0..<0
  /// What comes next in the direction of travel.
  var ahead = 0..<0
  /// What the view has passed, and would come to on a turn.
  var behind = 0..<0
  /// Everything around them that goes on when it runs, though it would not be begun.
  var kept = 0..<0

  init() {}

  /// The window of a viewport, for pictures that take `pace`, `parallel` of them at once.
  init(
    layout: GridLayout, viewport: Viewport, motion: ScrollMotion, at time: ContinuousClock.Instant, pace: FetchPace,
    parallel: Int, options: Prefetcher.Options
  ) {
    let height = viewport.height
    direction = motion.direction
    visible = layout.items(from: viewport.offset, height: height)
    // A view that is pulled over an end comes back to it, and none goes beyond.
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

  /// How far beyond the view pictures must be begun to be there in time, in points.
  ///
  /// The view goes `speed` × the time of a picture while one is fetched. The closer the cells that come into view are to
  /// all that can be fetched, the longer they queue: 1/(1 - load) times as long, for at most four times. And twice that,
  /// since half of the pictures take longer than the average.
  private static func reach(layout: GridLayout, speed: Double, pace: FetchPace, parallel: Int) -> Double {
    let distance = speed * pace.secondsPerPicture
    let cells = Double(layout.columns) / layout.rowPitch * distance
    let load = min(cells / Double(max(1, parallel)), 0.75)
    return 2 * distance / (1 - load)
  }

  /// The items in view when they can be there, those first that the scroll came to first.
  var focusInOrder: StridedItems { StridedItems(focus, direction) }

  /// The items out of view in the order they are fetched in: ahead, nearest first, then behind, nearest first.
  var restInOrder: [StridedItems] { [StridedItems(ahead, direction), StridedItems(behind, direction.reversed)] }
}

/// The items of a range in the order in which a scroll comes to them.
struct StridedItems: Sequence, Sendable {
  private let range: Range<Int>
  private let direction: ScrollDirection

  init(_ range: Range<Int>, _ direction: ScrollDirection) {
    (self.range, self.direction) = (range, direction)
  }

  func makeIterator() -> StrideTo<Int>.Iterator {
    switch direction {
    case .down: stride(from: range.lowerBound, to: range.upperBound, by: 1).makeIterator()
    case .up: stride(from: range.upperBound - 1, to: range.lowerBound - 1, by: -1).makeIterator()
    }
  }
}
