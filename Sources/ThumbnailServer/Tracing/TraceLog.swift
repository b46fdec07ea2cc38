import Foundation
package import Tracing

/// A tracer that writes its spans to a file: a line for each, in OTLP's JSON, as OpenTelemetry's collector reads it
/// (`otlpjsonfile`). Continues traces by W3C's `traceparent`.
package struct TraceLog: Tracer {
  private let lines: LineWriter
  private let share: Double

  /// A tracer.
  ///
  /// - Parameters:
  ///   - descriptor: Where its lines are written.
  ///   - share: The share of traces that are recorded, 0 to 1; those that are continued are as their parent says.
  package init(to descriptor: Int32, share: Double = 1) {
    lines = LineWriter(to: descriptor) { count in
      // Not among the spans, which programs read.
      let line = "thumbs: \(count) spans were left out of the trace log: it is not written fast enough\n"
      try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
      return nil
    }
    self.share = share
  }

  /// Writes what is left. To be called at the end.
  package func flush() { lines.flush() }

  package func forceFlush() { flush() }

  package func startSpan<Instant: TracerInstant>(
    _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
    at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
  ) -> TraceLogSpan {
    var context = context()
    let parent = context.trace
    let trace = parent?.child() ?? .root(share: share)
    context.trace = trace
    guard trace.isSampled else { return TraceLogSpan(context) }
    return TraceLogSpan(
      context,
      TraceLogSpan.Record(
        name: operationName, kind: kind, trace: trace, parent: parent?.span, start: instant().nanosecondsSinceEpoch),
      lines: lines)
  }

  package func extract<Carrier, Extract: Extractor>(
    _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
  ) where Extract.Carrier == Carrier {
    guard let parent = extractor.extract(key: Field.parent, from: carrier) else { return }
    context.trace = TraceContext(parent: parent, state: extractor.extract(key: Field.state, from: carrier))
  }

  package func inject<Carrier, Inject: Injector>(
    _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
  ) where Inject.Carrier == Carrier {
    guard let trace = context.trace else { return }
    injector.inject(trace.parent, forKey: Field.parent, into: &carrier)
    if let state = trace.state { injector.inject(state, forKey: Field.state, into: &carrier) }
  }

  private enum Field {
    static let parent = "traceparent"
    static let state = "tracestate"
  }
}
