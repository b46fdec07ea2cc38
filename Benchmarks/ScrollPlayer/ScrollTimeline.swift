import ThumbnailCore

/// A chart of a scroll: one line per cell over time. Green from when its thumbnail was ready to when it became visible,
/// red while it was visible and empty, and a line across where the scroll ended.
///
/// An SVG element with its own colours and no script, for embedding into any page.
struct ScrollTimeline: Sendable {
  private static let width = 960.0
  private static let left = 56.0
  private static let bottom = 28.0
  private let report: ScrollReport
  private let seconds: Double
  private let rowHeight: Double

  /// Draws a report.
  init(_ report: ScrollReport) {
    self.report = report
    let latest = report.cells.reduce(report.duration) { max($0, $1.inView, $1.ready ?? .zero) }
    seconds = max(0.001, latest.seconds)
    rowHeight = min(6, max(0.5, 480 / Double(max(1, report.cells.count))))
  }

  /// The element, `<svg …>…</svg>`.
  var svg: String {
    let height = Double(report.cells.count) * rowHeight
    var parts = [
      """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(number(Self.width)) \(number(height + Self.bottom))" \
      width="\(number(Self.width))" font-family="sans-serif" font-size="11" role="img">
      <title>When each cell came into view, and when its thumbnail was there</title>
      """
    ]
    parts += axis(height: height)
    parts += report.cells.enumerated().flatMap { line(of: $1, at: (Double($0) + 0.5) * rowHeight) }
    parts.append("</svg>")
    return parts.joined(separator: "\n")
  }

  private func axis(height: Double) -> [String] {
    let step = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60, 120, 600, 3600].first { seconds / $0 <= 12 } ?? seconds / 10
    var parts = stride(from: 0, through: seconds, by: step).flatMap { second in
      [
        stroke(from: x(second), to: x(second), y1: 0, y2: height, colour: "#ddd", width: 1),
        "<text x=\"\(number(x(second)))\" y=\"\(number(height + 14))\" text-anchor=\"middle\">\(number(second)) s</text>",
      ]
    }
    let rest = x(report.restsAt.seconds)
    parts.append(stroke(from: rest, to: rest, y1: 0, y2: height, colour: "#06c", width: 1))
    parts.append(
      "<text x=\"\(number(rest))\" y=\"\(number(height + 26))\" text-anchor=\"middle\" fill=\"#06c\">rests</text>")
    parts.append("<text x=\"0\" y=\"12\">cells</text>")
    return parts
  }

  /// Green from ready to visible, or red from visible to ready.
  private func line(of cell: ScrollReport.Cell, at y: Double) -> [String] {
    let inView = x(cell.inView.seconds)
    let mark = stroke(from: inView, to: inView + 1.5, y1: y, y2: y, colour: "#222", width: rowHeight)
    // The wait ends when the cell leaves the view.
    let end = min(cell.ready ?? report.duration, max(cell.leftView ?? report.duration, cell.inView))
    let isLate = end > cell.inView
    let arrival = x(end.seconds)
    let bar = stroke(
      from: min(arrival, inView), to: max(arrival, inView), y1: y, y2: y, colour: isLate ? "#d22" : "#5b5",
      width: rowHeight * 0.8)
    return [bar, mark]
  }

  private func x(_ second: Double) -> Double {
    Self.left + max(0, second) / seconds * (Self.width - Self.left - 24)
  }

  private func stroke(from x1: Double, to x2: Double, y1: Double, y2: Double, colour: String, width: Double) -> String {
    "<line x1=\"\(number(x1))\" x2=\"\(number(x2))\" y1=\"\(number(y1))\" y2=\"\(number(y2))\" stroke=\"\(colour)\" "
      + "stroke-width=\"\(number(width))\"/>"
  }

  /// A number with at most two decimals.
  private func number(_ value: Double) -> String {
    let rounded = (value * 100).rounded() / 100
    return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
  }
}
