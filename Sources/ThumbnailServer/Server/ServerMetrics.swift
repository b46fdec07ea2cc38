import Foundation
import HTTPServer
import NIOCore
import Synchronization
import ThumbnailCore
import Thumbnailer

/// What the server counts, as Prometheus reads it.
final class ServerMetrics: Sendable {
  private struct Series: Hashable {
    let route: Route
    /// The status, or 499 where the client left before.
    let status: UInt
  }

  /// The parts of the work for a thumbnail whose times the pipeline tells.
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
    Task { [weak self, events = pipeline.events()] in
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
