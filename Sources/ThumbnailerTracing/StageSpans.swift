import Synchronization
import ThumbnailCore
import Thumbnailer
import Tracing

/// Turns a pipeline's events into spans below those of the requests that wait for the work.
///
/// One job makes thumbnails for all its waiters: its spans belong to the first request, and the spans of the others
/// have a link to it.
final class StageSpans: Sendable {
  /// The most requests whose thumbnails wait to be written; further ones get no span `store`.
  private static let mostPending = 1024

  /// A request that waits.
  private struct Waiting {
    let number: Int
    let variant: Variant
    let span: any Span
    /// The status of the last attempt to download its image.
    var status: Int?
    var isLinked = false
  }

  private struct State {
    var lastNumber = 0
    var waiting: [SourceKey: [Waiting]] = [:]
    /// The requests whose thumbnails will be written to the disk cache.
    var pending: [ServiceContext] = []
  }

  /// When a stage began and ended.
  private struct Times {
    let start: DefaultTracerClock.Timestamp
    let end: DefaultTracerClock.Timestamp

    init(_ duration: Duration, until end: DefaultTracerClock.Timestamp) {
      (start, self.end) = (end - duration, end)
    }
  }

  private let tracer: any Tracer
  private let state = Mutex(State())

  init(_ tracer: any Tracer) { self.tracer = tracer }

  /// Notes a request. Returns its number for `end(_:of:)`.
  func begin(_ request: ThumbnailRequest, _ span: any Span) -> Int {
    state.withLock { state in
      state.lastNumber += 1
      state.waiting[request.source.key, default: []].append(
        Waiting(number: state.lastNumber, variant: request.variant, span: span))
      return state.lastNumber
    }
  }

  func end(_ number: Int, of source: SourceKey) {
    state.withLock { state in
      state.waiting[source]?.removeAll { $0.number == number }
      if state.waiting[source]?.isEmpty == true { state.waiting[source] = nil }
    }
  }

  /// Called on the thread of the event.
  func record(_ event: PipelineEvent) {
    let now = DefaultTracerClock.now
    if case .committed(let changes, let duration) = event.kind {
      return addStore(changes, Times(duration, until: now))
    }
    guard let source = event.source else { return }
    switch event.kind {
    case .diskHit(let variant, let isShrunk, let duration):
      add("read", Times(duration, until: now), to: [variant], of: source) { attributes, _ in
        attributes[TraceAttribute.isShrunk] = isShrunk
      }
    case .attempted(let number, let status): noteAttempt(number, status, of: source)
    case .downloaded(let bytes, _, let isComplete, let attempts, let version, let duration):
      add("fetch", Times(duration, until: now), kind: .client, of: source) { attributes, status in
        Self.describeFetch(of: source, status, in: &attributes)
        attributes[TraceAttribute.size] = bytes
        attributes[TraceAttribute.isComplete] = isComplete
        attributes[TraceAttribute.protocolName] = "http"
        attributes[TraceAttribute.protocolVersion] = version
        if attempts > 1 { attributes[TraceAttribute.resends] = attempts - 1 }
      }
    case .revalidated(let duration):
      add("revalidate", Times(duration, until: now), kind: .client, of: source) { attributes, status in
        Self.describeFetch(of: source, status, in: &attributes)
      }
    case .rendered(let variants, let waited, let duration, let encoding):
      let begun = now - duration
      add("wait", Times(waited, until: begun), to: variants, of: source)
      add("decode", Times(duration - encoding, until: now - encoding), to: variants, of: source)
      add("encode", Times(encoding, until: now), to: variants, of: source)
    case .stored(let variant, _): notePending(variant, of: source)
    case .memoryHit, .joined, .opened, .replaced, .servedStale, .servedWhileRevalidating, .revalidationFailed,
      .rememberedFailure, .planned, .committed, .failed, .cancelled, .hostPaused, .cacheProblem:
      break
    }
  }

  private static func describeFetch(of source: ImageSource, _ status: Int?, in attributes: inout SpanAttributes) {
    attributes[TraceAttribute.method] = "GET"
    attributes[TraceAttribute.server] = TraceAttribute.host(of: source)
    attributes[TraceAttribute.status] = status
  }

  /// Adds a span of a stage to the first request that waits for it.
  ///
  /// - Parameter variants: The variants that the stage makes; empty for all variants of the source.
  private func add(
    _ name: String, _ times: Times, kind: SpanKind = .internal, to variants: [Variant] = [],
    of source: ImageSource, _ describe: (inout SpanAttributes, _ status: Int?) -> Void = { _, _ in }
  ) {
    let (first, others) = state.withLock { state -> (Waiting?, [Waiting]) in
      guard !state.waiting.isEmpty, var waiting = state.waiting[source.key] else { return (nil, []) }
      let indices = waiting.indices.filter { variants.isEmpty || variants.contains(waiting[$0].variant) }
      guard let first = indices.first else { return (nil, []) }
      let others = indices.dropFirst().map { waiting[$0] }.filter { !$0.isLinked }
      for index in indices.dropFirst() { waiting[index].isLinked = true }
      state.waiting[source.key] = waiting
      return (waiting[first], others)
    }
    guard let first else { return }
    for other in others { other.span.addLink(SpanLink(context: first.span.context, attributes: [:])) }
    let span = tracer.startSpan(name, context: first.span.context, ofKind: kind, at: times.start)
    if span.isRecording { span.updateAttributes { describe(&$0, first.status) } }
    span.end(at: times.end)
  }

  private func noteAttempt(_ number: Int, _ status: Int?, of source: ImageSource) {
    let span = state.withLock { state -> (any Span)? in
      guard !state.waiting.isEmpty, var waiting = state.waiting[source.key] else { return nil }
      for index in waiting.indices { waiting[index].status = status }
      state.waiting[source.key] = waiting
      return waiting.first?.span
    }
    var attributes: SpanAttributes = [:]
    attributes[TraceAttribute.attempt] = number
    attributes[TraceAttribute.status] = status
    span?.addEvent(SpanEvent(name: "attempt", attributes: attributes))
  }

  private func notePending(_ variant: Variant, of source: ImageSource) {
    state.withLock { state in
      guard state.pending.count < Self.mostPending,
        let waiting = state.waiting[source.key]?.first(where: { $0.variant == variant })
      else { return }
      state.pending.append(waiting.span.context)
    }
  }

  /// A group of changes is one span, below the first of its requests, with links to the others.
  private func addStore(_ changes: Int, _ times: Times) {
    let pending = state.withLock { state in
      defer { state.pending = [] }
      return state.pending
    }
    guard let first = pending.first else { return }
    let span = tracer.startSpan("store", context: first, at: times.start)
    span.attributes[TraceAttribute.changes] = changes
    for other in pending.dropFirst() { span.addLink(SpanLink(context: other, attributes: [:])) }
    span.end(at: times.end)
  }
}
