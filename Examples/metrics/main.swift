// Reports what a pipeline does to swift-metrics: metrics FILE...
// A program bootstraps `MetricsSystem` with what it has, such as swift-prometheus.
import Foundation
import Metrics
import Thumbnailer

let pipeline = ThumbnailPipeline.shared
let reporting = Task { [events = pipeline.events] in
  let download = Timer(label: "thumbnailer_download_duration_seconds")
  let decode = Timer(label: "thumbnailer_decode_duration_seconds")
  for await event in events {
    switch event.kind {
    case .downloaded(_, _, _, _, _, let duration): download.record(duration: duration)
    case .rendered(_, _, let duration, _): decode.record(duration: duration)
    case .failed(let variants, let error):
      Counter(label: "thumbnailer_failures_total", dimensions: [("code", error.code)]).increment(by: variants.count)
    default: break
    }
  }
}

for path in CommandLine.arguments.dropFirst() {
  _ = try? await pipeline.thumbnail(for: URL(fileURLWithPath: path), size: 400)
}

// What counts the whole life of the pipeline is reported as it is, before each scrape.
for counter in pipeline.statistics.counters {
  Gauge(label: "thumbnailer_\(counter.name)").record(counter.value)
  print("\(counter.name): \(counter.value)")
}
reporting.cancel()
