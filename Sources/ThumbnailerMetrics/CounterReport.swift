import CoreMetrics
import Synchronization
import Thumbnailer

/// Reports the growth of the pipeline's own counters since the last time.
final class CounterReport: Sendable {
  /// The metric of one counter of `PipelineStatistics`.
  struct Metric {
    /// The counter's property name.
    let counter: String
    /// The name of the metric.
    let name: String
    var dimensions: [(String, String)] = []
  }

  /// All counters except `failures` and `offlineMisses`, which `EventReport` reports by the error's code.
  static let metrics = [
    Metric(counter: "memoryHits", name: "thumbnails_total", dimensions: [("origin", "memory")]),
    Metric(counter: "diskHits", name: "thumbnails_total", dimensions: [("origin", "disk")]),
    Metric(counter: "rendered", name: "thumbnails_total", dimensions: [("origin", "source")]),
    Metric(counter: "damaged", name: "damaged_thumbnails_total"),
    Metric(counter: "downloads", name: "downloads_total"),
    Metric(counter: "downloadedBytes", name: "downloaded_bytes_total"),
    Metric(counter: "bytesLeft", name: "skipped_bytes_total"),
    Metric(counter: "decodes", name: "decodes_total"),
    Metric(counter: "storedBytes", name: "stored_bytes_total"),
    Metric(counter: "joins", name: "joined_requests_total"),
    Metric(counter: "revalidations", name: "revalidations_total", dimensions: [("outcome", "not-modified")]),
    Metric(counter: "replacements", name: "revalidations_total", dimensions: [("outcome", "replaced")]),
    Metric(counter: "servedStale", name: "stale_thumbnails_total", dimensions: [("reason", "error")]),
    Metric(
      counter: "servedWhileRevalidating", name: "stale_thumbnails_total", dimensions: [("reason", "revalidating")]),
    Metric(counter: "rememberedFailures", name: "remembered_failures_total"),
  ]

  private let counters: [String: Counter]
  /// The values reported so far, by the counter's name.
  private let reported = Mutex<[String: Int]>([:])

  init(_ naming: MetricNaming) {
    counters = Dictionary(
      uniqueKeysWithValues: Self.metrics.map { ($0.counter, naming.counter($0.name, $0.dimensions)) })
  }

  /// A value that was corrected downwards is reported again once it exceeds what was reported: counters only grow.
  func update(from statistics: PipelineStatistics) {
    let growth = reported.withLock { reported in
      statistics.counters.compactMap { name, value -> (Counter, Int)? in
        guard let counter = counters[name], value > reported[name, default: 0] else { return nil }
        defer { reported[name] = value }
        return (counter, value - reported[name, default: 0])
      }
    }
    for (counter, amount) in growth { counter.increment(by: amount) }
  }
}
