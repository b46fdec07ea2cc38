import InMemoryTracing
import Tracing

@testable import PipelineTestSupport
@testable import Thumbnailer
@testable import ThumbnailerTracing

/// What reaches a tracer, and what docs/observability.md says of it.
@Suite(.timeLimit(.minutes(5))) struct PipelineTracingTests {
  private let tracer = InMemoryTracer()

  private func spans(_ name: String) -> [FinishedInMemorySpan] {
    tracer.finishedSpans.filter { $0.operationName == name }
  }

  private func span(_ name: String) throws -> FinishedInMemorySpan { try #require(spans(name).first) }

  private func length(_ span: FinishedInMemorySpan) -> UInt64 {
    span.endInstant.nanosecondsSinceEpoch - span.startInstant.nanosecondsSinceEpoch
  }

  @Test func theStagesOfAThumbnailAreBelowItsSpanInTheirOrder() async throws {
    let fixture = try PipelineFixture()
    let tracing = PipelineTracing(fixture.pipeline, tracer: tracer)
    _ = try await tracing.thumbnail(for: fixture.request())
    await fixture.pipeline.flush()
    let whole = try span("thumbnail")
    let stages = try ["fetch", "wait", "decode", "encode", "store"].map { try span($0) }
    for stage in stages { #expect(stage.spanContext.parentSpanID == whole.spanID && stage.traceID == whole.traceID) }
    for (one, next) in zip(stages, stages.dropFirst()) {
      #expect(one.startInstant.nanosecondsSinceEpoch <= next.startInstant.nanosecondsSinceEpoch)
    }
    for stage in stages.dropLast() {
      #expect(stage.startInstant.nanosecondsSinceEpoch >= whole.startInstant.nanosecondsSinceEpoch)
      #expect(stage.endInstant.nanosecondsSinceEpoch <= whole.endInstant.nanosecondsSinceEpoch)
    }
    #expect(length(stages[0]) > 0 && length(stages[2]) > 0)
    #expect(tracer.activeSpans.isEmpty)
  }

  @Test func attributesSayWhatWasDoneAndNeverWhatTheImageIs() async throws {
    let fixture = try PipelineFixture()
    let tracing = PipelineTracing(fixture.pipeline, tracer: tracer)
    _ = try await tracing.thumbnail(for: fixture.request("/holiday.jpg?token=SECRET"))
    let whole = try span("thumbnail")
    #expect(whole.attributes.get("thumbnailer.origin") == "source")
    #expect(whole.attributes.get("thumbnailer.width") == 40)
    let fetch = try span("fetch")
    #expect(fetch.kind == .client && fetch.attributes.get("server.address") == "127.0.0.1")
    #expect(
      fetch.attributes.get("http.response.status_code") == 200 && fetch.attributes.get("http.request.method") == "GET")
    for span in tracer.finishedSpans {
      span.attributes.forEach { name, value in
        #expect(!"\(value)".contains("SECRET") && !"\(value)".contains("holiday"), "\(name)")
      }
    }
  }

  @Test func theSpanOfAThumbnailIsBelowTheCurrentOne() async throws {
    let fixture = try PipelineFixture()
    let tracing = PipelineTracing(fixture.pipeline, tracer: tracer)
    try await tracer.withSpan("page") { _ in _ = try await tracing.thumbnail(for: fixture.request()) }
    #expect(try span("thumbnail").spanContext.parentSpanID == span("page").spanID)
  }

  @Test func whoeverWaitsForTheWorkOfAnotherHasALinkToIt() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture { _ in .picture.held(by: gate) }
    let tracing = PipelineTracing(fixture.pipeline, tracer: tracer)
    let first = Task { try await tracing.thumbnail(for: fixture.request()) }
    await poll { fixture.origin.requests.count == 1 }
    let second = Task { try await tracing.thumbnail(for: fixture.request()) }
    await poll { fixture.pipeline.statistics.joins == 1 }
    gate.open()
    _ = try await (first.value, second.value)
    let decode = try span("decode")
    let other = try #require(spans("thumbnail").first { $0.spanID != decode.spanContext.parentSpanID })
    #expect(spans("decode").count == 1 && spans("fetch").count == 1)
    #expect(other.links.first?.context.inMemorySpanContext?.spanID == decode.spanContext.parentSpanID)
  }

  @Test func aFailureIsTheErrorOfItsSpan() async throws {
    let fixture = try PipelineFixture { _ in .status(404) }
    let tracing = PipelineTracing(fixture.pipeline, tracer: tracer)
    await #expect(throws: ThumbnailError.self) { try await tracing.thumbnail(for: fixture.request()) }
    let whole = try span("thumbnail")
    #expect(whole.status?.code == .error && whole.attributes.get("error.type") == "not-found")
    #expect(whole.events.first?.attributes.get("http.response.status_code") == 404)
    #expect(spans("decode").isEmpty)
  }

  @Test func hitsHaveNoStagesButTheReading() async throws {
    let fixture = try PipelineFixture()
    _ = try await fixture.pipeline.thumbnail(for: fixture.request())
    let tracing = PipelineTracing(fixture.pipeline, tracer: tracer)
    _ = try await tracing.thumbnail(for: fixture.request())
    #expect(tracer.finishedSpans.map(\.operationName) == ["thumbnail"])
    #expect(try span("thumbnail").attributes.get("thumbnailer.origin") == "memory")
    let restarted = try await fixture.restarted()
    tracer.clearFinishedSpans()
    let later = PipelineTracing(restarted, tracer: tracer)
    _ = try await later.thumbnail(for: fixture.request())
    #expect(tracer.finishedSpans.map(\.operationName).sorted() == ["read", "thumbnail"])
  }

  @Test func withoutATracerNothingIsObserved() async throws {
    let fixture = try PipelineFixture()
    let tracing = PipelineTracing(fixture.pipeline, tracer: NoOpTracer())
    #expect(try await !tracing.thumbnail(for: fixture.request()).data.isEmpty)
  }

  @Test func theObservationEndsWithItsOwner() async throws {
    let fixture = try PipelineFixture()
    var tracing: PipelineTracing? = PipelineTracing(fixture.pipeline, tracer: tracer)
    _ = try await tracing?.thumbnail(for: fixture.request())
    let count = tracer.finishedSpans.count
    tracing = nil
    _ = try await fixture.pipeline.thumbnail(for: fixture.request("/b.jpg"))
    await fixture.pipeline.flush()
    #expect(spans("decode").count == 1 && tracer.finishedSpans.count <= count + 1)
  }
}
