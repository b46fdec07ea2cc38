import Foundation
import HTTPServer
import NIOCore
import Synchronization
import Thumbnailer

/// What the server counts, as Prometheus reads it.
final class ServerMetrics: Sendable {
  /// The upper bounds of the buckets of response times, in seconds.
  private static let bounds = [0.0005, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

  private struct Series: Hashable {
    let route: Route
    /// The status, or 499 where the client left before.
    let status: UInt
  }

  private struct Times {
    var buckets = [Int](repeating: 0, count: ServerMetrics.bounds.count)
    var count = 0
    var sum = 0.0
  }

  private struct State {
    var requests: [Series: Int] = [:]
    var bytes = 0
    var times: [Route: Times] = [:]
  }

  private static let clientLeft: UInt = 499

  private let state = Mutex(State())

  func record(_ exchange: ServerExchange, route: Route) {
    let seconds = Double(exchange.duration.nanoseconds) / 1e9
    let series = Series(route: route, status: exchange.status?.code ?? Self.clientLeft)
    let bucket = Self.bounds.firstIndex { seconds <= $0 }
    state.withLock { state in
      state.requests[series, default: 0] += 1
      state.bytes += exchange.byteCount
      state.times[route, default: Times()].count += 1
      state.times[route, default: Times()].sum += seconds
      if let bucket { state.times[route, default: Times()].buckets[bucket] += 1 }
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
      let label = "route=\"\(route.rawValue)\""
      var total = 0
      for (bound, count) in zip(Self.bounds, times.buckets) {
        total += count
        page.add("thumbs_http_request_duration_seconds_bucket", "\(label),le=\"\(bound)\"", total)
      }
      page.add("thumbs_http_request_duration_seconds_bucket", "\(label),le=\"+Inf\"", times.count)
      page.add("thumbs_http_request_duration_seconds_sum", label, times.sum)
      page.add("thumbs_http_request_duration_seconds_count", label, times.count)
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
private struct MetricsPage {
  private(set) var text = ""

  mutating func begin(_ name: String, _ type: String, _ help: String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
  }

  mutating func add(_ name: String, _ value: some CustomStringConvertible) { text += "\(name) \(value)\n" }

  mutating func add(_ name: String, _ labels: String, _ value: some CustomStringConvertible) {
    text += "\(name){\(labels)} \(value)\n"
  }
}
