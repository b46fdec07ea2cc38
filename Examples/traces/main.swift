// Makes a span of each request and of its stages, for swift-distributed-tracing: traces FILE...
// A program bootstraps `InstrumentationSystem` with what it has, such as swift-otel.
import Foundation
import Thumbnailer
import Tracing

let pipeline = ThumbnailPipeline.shared

/// Records a span that ends now.
func record(_ stage: String, of source: ImageSource?, _ duration: Duration) {
  let now = DefaultTracerClock.now.nanosecondsSinceEpoch
  let begun = DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: now - UInt64(duration / .nanoseconds(1)))
  let span = startSpan(stage, at: begun)
  // Only the host: paths and queries may be secrets.
  if let host = source?.url.host() { span.attributes["server.address"] = host }
  span.end()
}

let stages = Task { [events = pipeline.events] in
  for await event in events {
    switch event.kind {
    case .downloaded(_, _, _, _, _, let duration): record("fetch", of: event.source, duration)
    case .rendered(_, _, let duration, _): record("decode", of: event.source, duration)
    default: break
    }
  }
}

for path in CommandLine.arguments.dropFirst() {
  let thumbnail = try await withSpan("thumbnail") { _ in
    try await pipeline.thumbnail(for: URL(fileURLWithPath: path), size: 400)
  }
  print("\(path): \(thumbnail.size)")
}
stages.cancel()
