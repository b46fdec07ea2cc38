/// A scroll as it went, or might go: where the view is at each moment. Played against a prefetcher it tells how well that
/// keeps up.
///
/// Between its points the view moves evenly; two points of one time are a jump. Before the first and after the last the
/// view rests.
public struct ScrollTrace: Sendable, Hashable {
  /// Where the view is at one moment.
  public struct Point: Sendable, Hashable {
    /// Since the beginning of the scroll, in seconds.
    public var seconds: Double
    /// The scroll offset, in points.
    public var offset: Double

    /// A moment of a scroll.
    public init(seconds: Double, offset: Double) {
      self.seconds = seconds
      self.offset = offset
    }
  }

  /// The points by time; at least one.
  public let points: [Point]

  /// A scroll through points.
  ///
  /// - Throws: `ThumbnailError.invalidRequest` when there are none, or one has no number, a negative time, or a time
  ///   before that of the point in front of it.
  public init(points: [Point]) throws(ThumbnailError) {
    if points.isEmpty { throw .invalidRequest(reason: "a scroll trace needs at least one point") }
    var last = 0.0
    for (number, point) in points.enumerated() {
      guard point.seconds.isFinite, point.offset.isFinite, point.seconds >= last else {
        throw .invalidRequest(
          reason: "point \(number + 1) of the scroll trace must have an offset, and a time not before \(last) s")
      }
      last = point.seconds
    }
    self.points = points
  }

  /// Reads a trace from text: a line `SECONDS OFFSET` for each point, offsets in points. Empty lines, and what follows a
  /// `#`, do not count.
  ///
  /// - Throws: `ThumbnailError.invalidRequest` with the number of the line that makes no sense.
  public init(parsing text: String) throws(ThumbnailError) {
    var points: [Point] = []
    for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      let content = line.prefix { $0 != "#" }
      let words = content.split(whereSeparator: \.isWhitespace)
      if words.isEmpty { continue }
      guard words.count == 2, let seconds = Double(words[0]), let offset = Double(words[1]), seconds.isFinite,
        offset.isFinite, seconds >= points.last?.seconds ?? 0
      else {
        throw .invalidRequest(
          reason: "line \(number + 1) of the scroll trace is no \"SECONDS OFFSET\" with times that grow: \(line)")
      }
      points.append(Point(seconds: seconds, offset: offset))
    }
    try self.init(points: points)
  }

  /// For moves that follow each other: how long each takes, and how far it goes. An instant move is a jump.
  init(moves: [(seconds: Double, distance: Double)]) {
    var point = Point(seconds: 0, offset: 0)
    var points = [point]
    for move in moves {
      point.seconds += max(0, move.seconds)
      point.offset += move.distance
      points.append(point)
    }
    self.points = points
  }

  /// How long the scroll takes.
  public var duration: Duration { .seconds(points.last?.seconds ?? 0) }

  /// The lowest place that the upper edge of the view comes to, in points.
  public var farthestOffset: Double { points.map(\.offset).max() ?? 0 }

  /// Where the view is so long after the beginning, in points.
  public func offset(at elapsed: Duration) -> Double {
    let seconds = elapsed.seconds
    let next = points.partitioningIndex { $0.seconds > seconds }
    guard next > 0 else { return points[0].offset }
    let last = points[next - 1]
    guard next < points.count else { return last.offset }
    // The next point is later than now, and the last is not.
    let part = (seconds - last.seconds) / (points[next].seconds - last.seconds)
    return last.offset + (points[next].offset - last.offset) * part
  }

  /// What is in view so long after the beginning, in a view of `height` points; `start` is when the scroll began.
  public func viewport(at elapsed: Duration, height: Double, start: ContinuousClock.Instant) -> Viewport {
    Viewport(offset: offset(at: elapsed), height: height, time: start + elapsed)
  }
}
