import ArgumentParser
import Foundation
import PhotoSources
import Synchronization
import ThumbnailCore
import Thumbnailer

/// Scrolls through the pictures of a list or a search as a person would, in a grid that prefetches, and says as JSON lines
/// when each cell came into view and when its thumbnail was there. `Benchmarks/scroll` drives it.
@main
struct ScrollPlayer: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "scroll-player")

  @Argument(help: "steady:ROWS_PER_S, fling, back-and-forth, jump, or a file of lines “SECONDS ROW”.") var trace: String
  @Option(help: "A list of addresses to scroll through.") var urls: String?
  @Option(help: "The service to search where there is no list, with its address.") var provider = "unsplash"
  @Option var query = ""
  @Option var perPage = 30
  @Option(help: "The cache folder.") var cacheDir: String
  @Option(help: "Cells side by side.") var columns = 2
  @Option(help: "The side of a cell, in points.") var cell = 200.0
  @Option(help: "Device pixels a point.") var scale = 2.0
  @Option(help: "Rows of cells in view.") var rows = 6.0
  @Flag(help: "Scroll on as soon as all cells in view have their thumbnails.") var asFastAsReady = false
  @Flag(help: "Have each stored thumbnail confirmed by its server.") var refresh = false
  @Option(help: "Write a page with the figures and a line for each cell over time.") var sheet: String?

  func run() async throws {
    let played = try ScrollTrace(named: trace) ?? ScrollTrace(text: String(contentsOfFile: trace, encoding: .utf8))
    var configuration = ThumbnailPipeline.Configuration(
      cacheDirectory: URL(fileURLWithPath: cacheDir, isDirectory: true))
    if refresh { configuration.cacheMode = .refresh }
    let pipeline = try ThumbnailPipeline(configuration)
    let side = Int((cell * scale).rounded(.up))
    let layout = GridLayout(columns: columns, cell: PixelSize(side, side), scale: scale)
    let prefetcher = Prefetcher(pipeline: pipeline, layout: layout)
    let source: any PhotoProvider =
      try urls.map { URLListProvider(path: $0) }
      ?? ProviderSpecification(parsing: provider).provider(for: pipeline)
    let (pages, wish) = (source.storingPages(in: pipeline.pageStore), PhotoQuery(query, pageSize: perPage))
    let progress = Progress()
    let simulation = ScrollSimulation(
      trace: played, viewHeight: rows * layout.rowPitch, pace: asFastAsReady ? .untilReady : .realTime)
    var report = try await withThrowingTaskGroup { group in
      group.addTask {
        defer { progress.isDone.store(true, ordering: .releasing) }
        do {
          var cursor: PageCursor?
          for await wanted in prefetcher.itemsWanted {
            while prefetcher.itemCount < wanted {
              let page = try await pages.search(wish, at: cursor)
              let sources = page.photos.map { $0.source(for: layout.cell, fit: .cover) }
              let first = progress.sources.withLock { known in
                defer { known += sources }
                return known.count
              }
              Task {
                let found = await pipeline.placeholders(of: sources).enumerated().filter { $1 != nil }
                progress.placeholders.withLock { $0.formUnion(found.map { first + $0.offset }) }
              }
              prefetcher.append(contentsOf: sources)
              guard let next = page.next else { return }
              cursor = next
            }
          }
        } catch ProviderError.cancelled {}
      }
      let report = await simulation.run(on: prefetcher) {
        !progress.isDone.load(ordering: .acquiring)
      } hasPlaceholder: { index in
        progress.placeholders.withLock { $0.contains(index) }
      }
      group.cancelAll()
      try await group.waitForAll()
      return report
    }
    await pipeline.finishRevalidations()
    await pipeline.flush()
    report.peakMemoryBytes = ProcessMemory.peak
    let figures = Self.figures(of: report)
    let addresses = progress.sources.withLock { $0.map(\.url.absoluteString) }
    for cell in report.cells { print(Self.line(of: cell, addresses)) }
    print(figures.summaryLine)
    if let sheet {
      let page = "<!doctype html><meta charset=\"utf-8\"><pre>\(figures.summaryLine)</pre>\(ScrollTimeline(report).svg)"
      try page.write(toFile: sheet, atomically: true, encoding: .utf8)
    }
  }

  /// What has come of the list so far.
  private final class Progress: Sendable {
    let sources = Mutex<[ImageSource]>([])
    /// The items whose placeholders have been read.
    let placeholders = Mutex<Set<Int>>([])
    let isDone = Atomic(false)
  }

  private static func line(of cell: ScrollReport.Cell, _ addresses: [String]) -> String {
    let object: JSONObject = [
      "item": cell.item, "url": addresses.indices.contains(cell.item) ? addresses[cell.item] : "",
      "inView": cell.inView.seconds.rounded(toPlaces: 4), "ready": cell.ready?.seconds.rounded(toPlaces: 4),
      "error": cell.failure, "firstScreen": cell.isOfFirstScreen,
    ]
    return object.line
  }

  private static func figures(of report: ScrollReport) -> JSONObject {
    func wait(_ share: Double) -> Double { (report.wait(ofShare: share) ?? .zero).milliseconds.rounded(toPlaces: 1) }
    func update(_ share: Double) -> Double {
      (1000 * (report.viewportUpdate(ofShare: share) ?? .zero).milliseconds).rounded(toPlaces: 1)
    }
    return [
      "cells": report.cells.count, "failed": report.cells.count { $0.failure != nil },
      "readyOnSight": report.readyOnSight.rounded(toPlaces: 4),
      "emptyInView": report.emptyInView.rounded(toPlaces: 4),
      "waitP50Ms": wait(0.5), "waitP95Ms": wait(0.95), "waitP99Ms": wait(0.99),
      "completeAfterRestMs": report.completeAfterRest.milliseconds.rounded(toPlaces: 1),
      "downloadedBytes": report.downloadedBytes, "unseenBytes": report.unseenBytes,
      "viewportUpdateP50Us": update(0.5), "viewportUpdateP99Us": update(0.99), "viewportUpdateMaxUs": update(1),
      "seconds": report.duration.seconds.rounded(toPlaces: 3), "peakMemoryBytes": report.peakMemoryBytes ?? 0,
    ]
  }
}
