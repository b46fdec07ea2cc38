// The module ThumbnailerTracing: spans of a pipeline's work, for swift-distributed-tracing. A product of its own, so
// that other programs do not build that.

public import ThumbnailCore
public import Thumbnailer
public import Tracing

/// Makes thumbnails with a pipeline, with spans for each request and for the stages of its work.
///
/// docs/observability.md lists the spans and their attributes. The stages come from the pipeline's events, so nothing is
/// measured a second time, and without a tracer nothing is done. May be used from any task.
///
///     let tracing = PipelineTracing(pipeline)
///     let thumbnail = try await tracing.thumbnail(for: request)
public final class PipelineTracing: Sendable {
  private let pipeline: ThumbnailPipeline
  private let tracer: any Tracer
  private let isWanted: Bool
  private let stages: StageSpans
  /// Nil if nothing is observed.
  private let endObservation: (@Sendable () -> Void)?

  /// Spans of one pipeline's work.
  ///
  /// - Parameter tracer: The tracer that records them. Default: the one that the program has bootstrapped.
  public init(_ pipeline: ThumbnailPipeline, tracer: any Tracer = InstrumentationSystem.tracer) {
    (self.pipeline, self.tracer) = (pipeline, tracer)
    isWanted = !(tracer is NoOpTracer)
    let stages = StageSpans(tracer)
    self.stages = stages
    endObservation = isWanted ? pipeline.observeEvents { stages.record($0) } : nil
  }

  deinit { endObservation?() }

  /// The requested thumbnail: see `ThumbnailPipeline.thumbnail(for:)`.
  public func thumbnail(for request: ThumbnailRequest) async throws(ThumbnailError) -> Thumbnail {
    try await response(for: request).thumbnail
  }

  /// The requested thumbnail, and how it was obtained. Its span `thumbnail` is a child of the current one.
  public func response(for request: ThumbnailRequest) async throws(ThumbnailError) -> ThumbnailResponse {
    guard isWanted else { return try await pipeline.response(for: request) }
    let span = tracer.startSpan("thumbnail")
    defer { span.end() }
    guard span.isRecording else { return try await pipeline.response(for: request) }
    span.updateAttributes { TraceAttribute.describe(request, in: &$0) }
    let number = stages.begin(request, span)
    defer { stages.end(number, of: request.source.key) }
    do throws(ThumbnailError) {
      let response = try await pipeline.response(for: request)
      span.attributes[TraceAttribute.origin] = response.origin.rawValue
      return response
    } catch {
      // Its message may name the image.
      span.attributes[TraceAttribute.error] = error.code
      if error.code != ThumbnailError.cancelled.code { span.setStatus(SpanStatus(code: .error)) }
      throw error
    }
  }
}

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
    let end = time.nanosecondsSinceEpoch
    return Self(nanosecondsSinceEpoch: end - min(end, UInt64(max(0, nanoseconds))))
  }
}
