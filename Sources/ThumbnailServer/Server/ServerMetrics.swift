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
    let series = Series(route: route, status: exchange.code)
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
    let state = state.withLock { $0 }
    var page = MetricsPage()
    page.begin("thumbs_http_requests_total", "counter", "Requests by route and status.")
    let series = state.requests.sorted { one, other in
      (one.key.route.rawValue, one.key.status) < (other.key.route.rawValue, other.key.status)
    }
    for (series, count) in series {
      page.add("thumbs_http_requests_total", "route=\"\(series.route.rawValue)\",status=\"\(series.status)\"", count)
    }
    page.begin("thumbs_http_response_bytes_total", "counter", "Bytes of response bodies.")
    page.add("thumbs_http_response_bytes_total", state.bytes)
    page.begin(
      "thumbs_http_request_duration_seconds", "histogram", "From the end of a request to that of its response.")
    for (route, times) in state.times.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      page.add("thumbs_http_request_duration_seconds", "route=\"\(route.rawValue)\"", times)
    }
    page.begin(
      "thumbs_stage_duration_seconds", "histogram",
      "Reading from the disk cache; downloading; waiting for memory and a worker, decoding and encoding of a source "
        + "image; storing a group of changes.")
    for (stage, times) in state.stages.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      page.add("thumbs_stage_duration_seconds", "stage=\"\(stage.rawValue)\"", times)
    }
    add(pipeline, waiting, to: &page)
    return page.text
  }

  private func add(_ pipeline: ThumbnailPipeline, _ waiting: Int, to page: inout MetricsPage) {
    let statistics = pipeline.statistics
    page.begin("thumbs_cache_hits_total", "counter", "Thumbnails from the caches, by tier.")
    page.add("thumbs_cache_hits_total", "tier=\"memory\"", statistics.memoryHits)
    page.add("thumbs_cache_hits_total", "tier=\"disk\"", statistics.diskHits)
    for (name, help, value) in [
      ("thumbs_downloaded_bytes_total", "Bytes of source images received.", statistics.downloadedBytes),
      ("thumbs_decodes_total", "Source images decoded.", statistics.decodes),
      ("thumbs_failures_total", "Thumbnails that could not be made.", statistics.failures),
    ] {
      page.begin(name, "counter", help)
      page.add(name, value)
    }
    for (name, help, value) in [
      ("thumbs_jobs", "Source images in work.", pipeline.activeJobs),
      ("thumbs_requests_waiting", "Requests whose thumbnails are being made.", waiting),
      ("thumbs_downloads_waiting", "Downloads that wait for a slot.", pipeline.waitingDownloads),
      ("thumbs_bytes_in_flight", "Bytes of bodies and decodes.", pipeline.bytesInFlight),
      ("process_resident_memory_bytes", "Resident memory.", ProcessStatus.residentBytes),
    ] {
      page.begin(name, "gauge", help)
      page.add(name, value)
    }
  }
}

/// Prometheus' text format.
struct MetricsPage {
  private(set) var text = ""

  mutating func begin(_ name: String, _ type: String, _ help: String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
  }

  mutating func add(_ name: String, _ value: some CustomStringConvertible) { text += "\(name) \(value)\n" }

  mutating func add(_ name: String, _ labels: String, _ value: some CustomStringConvertible) {
    text += "\(name){\(labels)} \(value)\n"
  }

  /// A histogram's buckets, sum and count.
  ///
  /// - Parameter label: The label that distinguishes metrics of the same name, such as `route="thumb"`.
  mutating func add(_ name: String, _ label: String, _ histogram: Histogram) {
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

/// The kernel's figures about this process.
enum ProcessStatus {
  /// Its current memory in bytes; 0 if that cannot be read.
  static var residentBytes: Int {
    guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
  }
}
