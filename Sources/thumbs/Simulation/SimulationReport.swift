import Exports
import Foundation
import Thumbnailer

/// The output of `thumbs prefetch --simulate`: as text, as JSON lines, and as a page with the timeline.
struct SimulationReport {
  let report: ScrollReport
  let trace: String
  let provider: String
  /// The image source of each item, in order.
  let sources: [ImageSource]
  /// The number of unusable items of the source.
  let skipped: Int

  /// Whether no cell came into view.
  var isEmpty: Bool { report.cells.isEmpty }

  /// The number of cells that came into view and failed.
  private var failedCells: Int { report.cells.count { $0.failure != nil } }

  /// A line for each cell that came into view and failed, with its image and the reason.
  var failures: [String] {
    report.cells.compactMap { cell in
      cell.failure.map { "\(source(of: cell)?.displayName ?? "item \(cell.item)"): \($0)" }
    }
  }

  private func source(of cell: ScrollReport.Cell) -> ImageSource? {
    sources.indices.contains(cell.item) ? sources[cell.item] : nil
  }

  private var firstScreen: Duration? {
    let first = report.cells.filter(\.isOfFirstScreen)
    return first.isEmpty ? nil : first.map { $0.ready ?? report.duration }.max()
  }

  /// The figures with their labels.
  private var figures: [(name: String, value: String)] {
    let later = report.cellsAfterFirstScreen.count
    var figures = [("cells seen", "\(report.cells.count), \(later) of them after the first screen")]
    if later > 0 {
      figures.append(("ready on sight", "\((100 * report.readyOnSight).rounded(toPlaces: 1)) %"))
      figures.append(("empty in view", "\((100 * report.emptyInView).rounded(toPlaces: 1)) %"))
    }
    let waits = [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)].compactMap { name, share in
      report.wait(ofShare: share).map { "\(name) \(Self.milliseconds($0)) ms" }
    }
    if !waits.isEmpty { figures.append(("wait", waits.joined(separator: ", "))) }
    if let firstScreen { figures.append(("first screen complete", "after \(Self.milliseconds(firstScreen)) ms")) }
    figures.append(("last screen complete", "\(Self.milliseconds(report.completeAfterRest)) ms after the scroll rests"))
    let unseen = report.unseenBytes
    figures.append(
      (
        "downloaded",
        "\(ByteSize(bytes: report.downloadedBytes)), \(ByteSize(bytes: unseen)) of it for cells never seen"
      ))
    if failedCells > 0 { figures.append(("failed", "\(failedCells)")) }
    if skipped > 0 { figures.append(("no pictures", "\(skipped)")) }
    if let peak = report.peakMemoryBytes { figures.append(("peak memory", "\(ByteSize(bytes: peak))")) }
    return figures.map { (name: $0.0, value: $0.1) }
  }

  /// The human-readable report.
  var text: String {
    ([PlainText.line("scrolled \(trace) through the pictures from \(provider)")]
      + figures.map { "\($0.name): \($0.value)" })
      .joined(separator: "\n")
  }

  /// A line of `--json` for each cell, in the order in which they came into view.
  var cellLines: [String] {
    report.cells.map { cell in
      let object: JSONObject = [
        "item": cell.item,
        "url": PlainText.withoutPasswords(source(of: cell)?.url.absoluteString ?? ""),
        "inView": cell.inView.seconds.rounded(toPlaces: 4),
        "ready": cell.ready?.seconds.rounded(toPlaces: 4),
        "error": cell.failure.map(PlainText.withoutPasswords),
        "firstScreen": cell.isOfFirstScreen,
      ]
      return object.line
    }
  }

  /// The last line of `--json`.
  var json: String {
    func wait(_ share: Double) -> Double { Self.milliseconds(report.wait(ofShare: share) ?? .zero) }
    func update(_ share: Double) -> Double {
      (1000 * (report.viewportUpdate(ofShare: share) ?? .zero).milliseconds).rounded(toPlaces: 1)
    }
    let figures: JSONObject = [
      "trace": trace,
      "cells": report.cells.count,
      "cellsAfterFirstScreen": report.cellsAfterFirstScreen.count,
      "failed": failedCells,
      "skipped": skipped,
      "readyOnSight": report.readyOnSight.rounded(toPlaces: 4),
      "emptyInView": report.emptyInView.rounded(toPlaces: 4),
      "waitP50Ms": wait(0.5),
      "waitP95Ms": wait(0.95),
      "waitP99Ms": wait(0.99),
      "firstScreenMs": firstScreen.map(Self.milliseconds),
      "completeAfterRestMs": Self.milliseconds(report.completeAfterRest),
      "downloadedBytes": report.downloadedBytes,
      "unseenBytes": report.unseenBytes,
      "viewportUpdateP50Us": update(0.5),
      "viewportUpdateP99Us": update(0.99),
      "viewportUpdateMaxUs": update(1),
      "seconds": report.duration.seconds.rounded(toPlaces: 3),
      "peakMemoryBytes": report.peakMemoryBytes ?? 0,
      "provider": provider,
    ]
    return figures.summaryLine
  }

  /// A self-contained page with the figures and the timeline.
  var page: String {
    let title = PlainText.line("Scroll: \(trace), pictures from \(provider)")
    let rows = figures.map { "<tr><th>\(HTMLPage.escaped($0.name))</th><td>\(HTMLPage.escaped($0.value))</td></tr>" }
    return HTMLPage.head(title: title) + HTMLPage.heading(title) + """
      <table>
      \(rows.joined(separator: "\n"))
      </table>
      <p>A line for each cell, from the top in the order in which they came into view, which is the dark mark.
      <span class="ready">Green</span>: how long the thumbnail had been there. <span class="late">Red</span>: how long the
      cell was empty. <span class="rest">Blue</span>: the scroll comes to rest.</p>
      \(ScrollTimeline(report).svg)

      """ + HTMLPage.end
  }

  private static func milliseconds(_ duration: Duration) -> Double { duration.milliseconds.rounded(toPlaces: 1) }
}
