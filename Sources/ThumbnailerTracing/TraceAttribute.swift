import ThumbnailCore
import Thumbnailer
import Tracing

/// The attributes of spans, with OpenTelemetry's names if it has any.
enum TraceAttribute {
  /// The origin of a thumbnail: `memory`, `disk`, `source` and the like.
  static let origin = "thumbnailer.origin"
  /// The code of an error, or the status of a response that failed.
  static let error = "error.type"
  /// The host of the source image.
  static let server = "server.address"
  static let status = "http.response.status_code"
  static let method = "http.request.method"
  static let size = "http.response.body.size"
  static let resends = "http.request.resend_count"
  static let protocolName = "network.protocol.name"
  static let protocolVersion = "network.protocol.version"
  static let attempt = "thumbnailer.attempt"
  static let isComplete = "thumbnailer.complete"
  static let isShrunk = "thumbnailer.shrunk"
  static let changes = "thumbnailer.changes"
  static let width = "thumbnailer.width"
  static let height = "thumbnailer.height"

  /// The requested thumbnail. Only the host of its source is shown: paths and queries may contain names, keys and
  /// signatures.
  static func describe(_ request: ThumbnailRequest, in attributes: inout SpanAttributes) {
    attributes[width] = request.variant.size.width
    attributes[height] = request.variant.size.height
    attributes[server] = host(of: request.source)
  }

  /// The host of an image on the web; nil for files.
  static func host(of source: ImageSource) -> String? {
    source.url.isFileURL ? nil : source.url.host()
  }
}

extension DefaultTracerClock.Timestamp {
  /// The time before that one.
  static func - (time: Self, duration: Duration) -> Self {
    let (seconds, attoseconds) = duration.components
    let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    return Self(nanosecondsSinceEpoch: time.nanosecondsSinceEpoch - UInt64(max(0, nanoseconds)))
  }
}
