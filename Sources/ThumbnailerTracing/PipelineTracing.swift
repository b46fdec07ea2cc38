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
