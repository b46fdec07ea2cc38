import Synchronization
package import Tracing

/// A span that is written when it ends; nothing is kept of one whose trace is not recorded.
package final class TraceLogSpan: Span {
  /// What is written.
  struct Record: Sendable {
    var name: String
    let kind: SpanKind
    let trace: TraceContext
    let parent: UInt64?
    let start: UInt64
    var attributes: SpanAttributes = [:]
    var events: [SpanEvent] = []
    var links: [TraceContext] = []
    var status: SpanStatus?
  }

  /// A span that is never ended must not grow.
  private static let mostEntries = 128

  package let context: ServiceContext
  private let lines: LineWriter?
  /// Nil once it has ended.
  private let record: Mutex<Record?>

  /// A span that is not recorded.
  init(_ context: ServiceContext) {
    (self.context, lines) = (context, nil)
    record = Mutex(nil)
  }

  init(_ context: ServiceContext, _ record: Record, lines: LineWriter) {
    (self.context, self.lines) = (context, lines)
    self.record = Mutex(record)
  }

  package var isRecording: Bool { record.withLock { $0 != nil } }

  package var operationName: String {
    get { record.withLock { $0?.name ?? "" } }
    set { record.withLock { $0?.name = newValue } }
  }

  package var attributes: SpanAttributes {
    get { record.withLock { $0?.attributes ?? [:] } }
    set { record.withLock { $0?.attributes = newValue } }
  }

  package func setStatus(_ status: SpanStatus) { record.withLock { $0?.status = status } }

  package func addEvent(_ event: SpanEvent) {
    record.withLock { record in
      if record?.events.count ?? 0 < Self.mostEntries { record?.events.append(event) }
    }
  }

  package func addLink(_ link: SpanLink) {
    guard let trace = link.context.trace else { return }
    record.withLock { record in
      if record?.links.count ?? 0 < Self.mostEntries { record?.links.append(trace) }
    }
  }

  package func recordError<Instant: TracerInstant>(
    _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
  ) {
    // Its text may name an image or an address.
    var attributes = attributes
    attributes["exception.type"] = "\(type(of: error))"
    addEvent(SpanEvent(name: "exception", at: instant(), attributes: attributes))
  }

  package func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
    let ended = record.withLock { record in
      defer { record = nil }
      return record
    }
    if let ended { lines?.append(OTLPLine(ended, end: instant().nanosecondsSinceEpoch).bytes) }
  }
}
