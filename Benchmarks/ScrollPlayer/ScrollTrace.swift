/// A recorded scroll: the position of the viewport's top over time, in rows.
///
/// Rows rather than points, so that one trace fits every layout. A trace is linear between its points, and constant
/// before the first and after the last. A step in no time is a jump.
struct ScrollTrace: Sendable, Equatable {
  /// A position at a moment.
  struct Point: Sendable, Equatable {
    /// The time from the start.
    var time: Duration
    /// The row at the top of the viewport, from 0; may be fractional.
    var row: Double
  }

  /// Why a trace is invalid.
  enum Problem: Error, Sendable, Equatable {
    /// A trace needs at least one point.
    case empty
    /// A line is not two numbers, seconds and row, both at least 0.
    case unreadable(line: Int, text: String)
    /// A line's time is before the previous line's.
    case backwards(line: Int)
  }

  /// The points, ordered by time. Never empty.
  let points: [Point]

  /// A trace through points.
  init(_ points: [Point]) throws(Problem) {
    guard !points.isEmpty else { throw .empty }
    for (index, point) in points.enumerated() {
      guard point.time >= .zero, point.row >= 0, point.row.isFinite else {
        throw .unreadable(line: index + 1, text: "\(point.time) \(point.row)")
      }
      if index > 0, point.time < points[index - 1].time { throw .backwards(line: index + 1) }
    }
    self.points = points
  }

  /// The end of the last movement.
  var duration: Duration { points.last?.time ?? .zero }

  /// The position of the viewport's top, in rows. At the time of a jump it is the position after it.
  func row(at time: Duration) -> Double {
    // The first point after the time.
    var (low, high) = (0, points.count)
    while low < high {
      let middle = (low + high) / 2
      if points[middle].time > time { high = middle } else { low = middle + 1 }
    }
    guard low > 0 else { return points[0].row }
    let before = points[low - 1]
    guard low < points.count else { return before.row }
    let after = points[low]
    return before.row + (after.row - before.row) * ((time - before.time) / (after.time - before.time))
  }
}

extension ScrollTrace {
  /// Parses a trace: one point per line, `SECONDS ROW`. Empty lines and those that begin with `#` are ignored.
  init(text: String) throws(Problem) {
    var points: [Point] = []
    for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      let words = line.split(whereSeparator: \.isWhitespace)
      guard let first = words.first, !first.hasPrefix("#") else { continue }
      // A limit of one year keeps the arithmetic exact.
      guard words.count == 2, let seconds = Double(first), let row = Double(words[1]),
        (0...31_536_000).contains(seconds),
        (0...1e12).contains(row)
      else { throw .unreadable(line: number + 1, text: String(line.prefix(80))) }
      if let last = points.last, .seconds(seconds) < last.time { throw .backwards(line: number + 1) }
      points.append(Point(time: .seconds(seconds), row: row))
    }
    try self.init(points)
  }

  private init(valid points: [(seconds: Double, row: Double)]) {
    self.points = points.map { Point(time: .seconds($0.seconds), row: $0.row) }
  }

  /// How long the first screen is shown before scrolling, in seconds.
  private static let firstLook = 2.0

  /// A rest on the first screen, then 20 seconds at this many rows per second.
  static func steady(rowsPerSecond: Double) -> ScrollTrace {
    ScrollTrace(valid: [(0, 0), (firstLook, 0), (firstLook + 20, 20 * max(0, rowsPerSecond))])
  }

  /// A rest on the first screen, then 20 rows per second for two seconds, and rest.
  static let fling = ScrollTrace(valid: [(0, 0), (firstLook, 0), (firstLook + 2, 40)])

  /// Four times 24 rows down and 16 up at four rows per second, and down to the farthest row once more.
  static let backAndForth = ScrollTrace(
    valid: [
      (0, 0), (firstLook, 0), (8, 24), (12, 8), (18, 32), (22, 16), (28, 40), (32, 24), (38, 48), (42, 32), (46, 48),
    ])

  /// A rest on the first screen, two seconds at three rows per second, then a jump to row 1,000.
  static let jump = ScrollTrace(valid: [(0, 0), (firstLook, 0), (4, 6), (4, 1000)])

  /// A trace by its name: `fling`, `back-and-forth`, `jump` or `steady:ROWS_PER_S`. Nil for anything else.
  init?(named name: String) {
    switch name {
    case "fling": self = .fling
    case "back-and-forth": self = .backAndForth
    case "jump": self = .jump
    default:
      let prefix = "steady:"
      guard name.hasPrefix(prefix), let speed = Double(name.dropFirst(prefix.count)), speed > 0, speed <= 1e6 else {
        return nil
      }
      self = .steady(rowsPerSecond: speed)
    }
  }
}

extension ScrollTrace.Problem: CustomStringConvertible {
  /// What is wrong, and the expected format.
  var description: String {
    switch self {
    case .empty: "the trace is empty; write a point a line, SECONDS ROW"
    case .unreadable(let line, let text):
      "line \(line) of the trace, “\(text)”, is no point; write two numbers from 0, SECONDS ROW"
    case .backwards(let line): "line \(line) of the trace goes back in time; write its points in their order"
    }
  }
}
