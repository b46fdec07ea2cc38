import Foundation
import HTTPServer
import NIOCore
import Synchronization
import ThumbnailCore
import Thumbnailer

/// The server's counters in Prometheus' format.
final class ServerMetrics: Sendable {
  private struct Series: Hashable {
    let route: Route
    /// The status, or 499 if the client left before.
    let status: UInt
  }

  /// The stages of a thumbnail whose times the pipeline reports.
  private enum Stage: String {
    case diskRead = "disk-read", download, decode, encode, store, wait
  }

  private struct State {
    var requests: [Series: Int] = [:]
    var bytes = 0
    var times: [Route: Histogram] = [:]
    var stages: [Stage: Histogram] = [:]
  }

  private let state = Mutex(State())

  func record(_ exchange: ServerExchange, route: Route) {
    let seconds = Double(exchange.duration.nanoseconds) / 1e9
    let series = Series(route: route, status: exchange.status?.code ?? 499)
    state.withLock { state in
      state.requests[series, default: 0] += 1
      state.bytes += exchange.byteCount
      state.times[route, default: Histogram()].add(seconds)
    }
  }

  /// Counts the times of a pipeline's stages until the task is cancelled or the pipeline ends.
  func follow(_ pipeline: ThumbnailPipeline) -> Task<Void, Never> {
    Task { [weak self, events = pipeline.events] in
      for await event in events { self?.record(event.kind) }
    }
  }

  private func record(_ event: PipelineEvent.Kind) {
    let times: [Stage: Duration]
    switch event {
    case .diskHit(_, _, let duration): times = [.diskRead: duration]
    case .downloaded(_, _, _, _, _, let duration): times = [.download: duration]
    case .rendered(_, let waited, let duration, let encoding):
      times = [.wait: waited, .decode: duration - encoding, .encode: encoding]
    case .committed(_, let duration): times = [.store: duration]
    default: return
    }
    state.withLock { state in
      for (stage, duration) in times { state.stages[stage, default: Histogram()].add(duration.seconds) }
    }
  }

  /// Everything in Prometheus' text format.
  func text(pipeline: ThumbnailPipeline, waiting: Int) -> String {
    let (state, statistics) = (state.withLock { $0 }, pipeline.statistics)
    let series = state.requests.sorted { one, other in
      (one.key.route.rawValue, one.key.status) < (other.key.route.rawValue, other.key.status)
    }
    var page = MetricsPage()
    page.add(
      "thumbs_http_requests_total", "counter", "Requests by route and status.",
      series.map { ("route=\"\($0.route.rawValue)\",status=\"\($0.status)\"", $1) })
    page.add("thumbs_http_response_bytes_total", "counter", "Bytes of response bodies.", [("", state.bytes)])
    page.add(
      "thumbs_http_request_duration_seconds", "From the end of a request to that of its response.",
      state.times.map { ("route=\"\($0.rawValue)\"", $1) })
    page.add(
      "thumbs_stage_duration_seconds",
      "Reading from the disk cache; downloading; waiting for memory and a worker, decoding and encoding of a source "
        + "image; storing a group of changes.", state.stages.map { ("stage=\"\($0.rawValue)\"", $1) })
    page.add(
      "thumbs_cache_hits_total", "counter", "Thumbnails from the caches, by tier.",
      [("tier=\"memory\"", statistics.memoryHits), ("tier=\"disk\"", statistics.diskHits)])
    for (name, type, help, value) in [
      ("thumbs_downloaded_bytes_total", "counter", "Bytes of source images received.", statistics.downloadedBytes),
      ("thumbs_decodes_total", "counter", "Source images decoded.", statistics.decodes),
      ("thumbs_failures_total", "counter", "Thumbnails that could not be made.", statistics.failures),
      ("thumbs_jobs", "gauge", "Source images in work.", pipeline.activeJobs),
      ("thumbs_requests_waiting", "gauge", "Requests whose thumbnails are being made.", waiting),
      ("thumbs_downloads_waiting", "gauge", "Downloads that wait for a slot.", pipeline.waitingDownloads),
      ("thumbs_bytes_in_flight", "gauge", "Bytes of bodies and decodes.", pipeline.bytesInFlight),
      ("process_resident_memory_bytes", "gauge", "Resident memory.", ProcessMemory.current),
    ] { page.add(name, type, help, [("", value)]) }
    return page.text
  }
}

/// Prometheus' text format.
struct MetricsPage {
  private(set) var text = ""

  private mutating func begin(_ name: String, _ type: String, _ help: String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
  }

  private mutating func add(_ name: String, _ labels: String, _ value: some CustomStringConvertible) {
    text += labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n"
  }

  /// A counter or a gauge: a value for each combination of labels.
  mutating func add(_ name: String, _ type: String, _ help: String, _ values: [(labels: String, value: Int)]) {
    begin(name, type, help)
    for (labels, value) in values { add(name, labels, value) }
  }

  /// Histograms, each with its label, such as `route="thumb"`: buckets, sum and count.
  mutating func add(_ name: String, _ help: String, _ histograms: [(label: String, Histogram)]) {
    begin(name, "histogram", help)
    for (label, histogram) in histograms.sorted(by: { $0.label < $1.label }) {
      var total = 0
      for (bound, count) in zip(Histogram.bounds, histogram.buckets) {
        total += count
        add("\(name)_bucket", "\(label),le=\"\(bound)\"", total)
      }
      add("\(name)_bucket", "\(label),le=\"+Inf\"", histogram.count)
      add("\(name)_sum", label, histogram.sum)
      add("\(name)_count", label, histogram.count)
    }
  }
}

/// Times in buckets, as Prometheus counts them.
struct Histogram: Sendable {
  /// The upper bounds of the buckets, in seconds.
  static let bounds = [0.0005, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

  /// The times in each bucket alone.
  private(set) var buckets = [Int](repeating: 0, count: Histogram.bounds.count)
  private(set) var count = 0
  /// In seconds.
  private(set) var sum = 0.0

  /// Counts a time in seconds.
  mutating func add(_ seconds: Double) {
    count += 1
    sum += seconds
    if let bucket = Self.bounds.firstIndex(where: { seconds <= $0 }) { buckets[bucket] += 1 }
  }
}
