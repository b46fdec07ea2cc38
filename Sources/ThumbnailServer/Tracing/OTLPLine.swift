import ThumbnailCore
import Tracing

/// A span in the JSON of OpenTelemetry's protocol: numbers of 64 bits are strings there, identities hexadecimal. Made of
/// bytes, since each request has one.
struct OTLPLine {
  private static let head = Array(
    (#"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"thumbs"}}]},"#
      + #""scopeSpans":[{"scope":{"name":"thumbnailer"},"spans":[{"traceId":""#).utf8)
  private static let tail = "}]}]}]}\n"
  private static let errorCode = 2
  private static let usualLength = 1024
  private static let quote = UInt8(ascii: "\"")
  private static let comma = UInt8(ascii: ",")

  private(set) var bytes = OTLPLine.head

  init(_ span: TraceLogSpan.Record, end: UInt64) {
    bytes.reserveCapacity(Self.usualLength)
    addIdentity(span.trace)
    if let parent = span.parent {
      add(#","parentSpanId":""#)
      add(hexadecimal: parent)
      bytes.append(Self.quote)
    }
    if let state = span.trace.state {
      add(#","traceState":"#)
      add(quoted: state)
    }
    add(#","name":"#)
    add(quoted: span.name)
    add(#","kind":"#)
    add("\(Self.number(of: span.kind))")
    add(#","startTimeUnixNano":"\#(span.start)","endTimeUnixNano":"\#(max(span.start, end))","attributes":["#)
    add(span.attributes)
    add("]")
    addList("events", span.events) { line, event in
      line.add(#"{"timeUnixNano":"\#(event.nanosecondsSinceEpoch)","name":"#)
      line.add(quoted: event.name)
      line.add(#","attributes":["#)
      line.add(event.attributes)
      line.add("]}")
    }
    addList("links", span.links) { line, link in
      line.add(#"{"traceId":""#)
      line.addIdentity(link)
      line.add("}")
    }
    if span.status?.code == .error { add(#","status":{"code":\#(Self.errorCode)}"#) }
    add(Self.tail)
  }

  private static func number(of kind: SpanKind) -> Int {
    switch kind {
    case .internal: 1
    case .server: 2
    case .client: 3
    case .producer: 4
    case .consumer: 5
    }
  }

  private mutating func add(_ text: String) { bytes.append(contentsOf: text.utf8) }

  /// The trace's digits, which follow a quotation mark, and the span.
  private mutating func addIdentity(_ trace: TraceContext) {
    add(hexadecimal: trace.trace.high)
    add(hexadecimal: trace.trace.low)
    add(#"","spanId":""#)
    add(hexadecimal: trace.span)
    bytes.append(Self.quote)
  }

  private mutating func addList<Element>(
    _ name: String, _ elements: [Element], _ add: (inout OTLPLine, Element) -> Void
  ) {
    guard !elements.isEmpty else { return }
    self.add(#","\#(name)":["#)
    for (index, element) in elements.enumerated() {
      if index > 0 { bytes.append(Self.comma) }
      add(&self, element)
    }
    self.add("]")
  }

  /// Attributes of other types than the server uses are texts.
  private mutating func add(_ attributes: SpanAttributes) {
    var isFirst = true
    attributes.forEach { name, value in
      if !isFirst { bytes.append(Self.comma) }
      isFirst = false
      add(#"{"key":"#)
      add(quoted: name)
      add(#","value":{"#)
      switch value {
      case .int32(let number): add(#""intValue":"\#(number)""#)
      case .int64(let number): add(#""intValue":"\#(number)""#)
      case .double(let number) where number.isFinite: add(#""doubleValue":\#(number)"#)
      case .bool(let isTrue): add(#""boolValue":\#(isTrue)"#)
      case .string(let text):
        add(#""stringValue":"#)
        add(quoted: text)
      default:
        add(#""stringValue":"#)
        add(quoted: "\(value)")
      }
      add("}}")
    }
  }

  private mutating func add(quoted text: String) { text.append(to: &bytes) }

  private mutating func add(hexadecimal number: UInt64) { add(TraceContext.digits(number)) }
}
