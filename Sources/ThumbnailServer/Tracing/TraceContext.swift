import Synchronization
import Tracing

/// Where a span is: its trace and its own identity, as W3C's Trace Context has it.
struct TraceContext: Sendable, Equatable {
  /// The place of the flag in `traceparent` that says that the trace is recorded.
  private static let sampledFlag: UInt64 = 1
  private static let invalidVersion: UInt64 = 0xff
  /// Of `tracestate`, in bytes; a longer one is left out.
  private static let longestState = 512
  private static let spanDigits = 16

  /// The trace, in two halves.
  var trace: (high: UInt64, low: UInt64)
  var span: UInt64
  var isSampled: Bool
  /// What the systems on the way have added.
  var state: String?

  /// A trace of its own.
  ///
  /// - Parameter share: The share of traces that are recorded, 0 to 1.
  static func root(share: Double) -> TraceContext {
    let (high, low, span) = TraceIdentities.shared.next()
    let isSampled = share >= 1 || Double(low) < share * Double(UInt64.max)
    return TraceContext(trace: (high, low), span: span, isSampled: isSampled)
  }

  /// A span below this one.
  func child() -> TraceContext {
    var child = self
    child.span = TraceIdentities.shared.next().2
    return child
  }

  static func == (one: Self, other: Self) -> Bool {
    one.trace == other.trace && one.span == other.span && one.isSampled == other.isSampled && one.state == other.state
  }

  /// Reads `traceparent`: `00-TRACE-SPAN-FLAGS`; a later version may have more fields. Nil for anything else.
  init?(parent: String, state: String? = nil) {
    let parts = parent.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count >= 4, let version = Self.number(parts[0], digits: 2), version != Self.invalidVersion,
      version != 0 || parts.count == 4, parts[1].utf8.count == 2 * Self.spanDigits,
      let high = Self.number(parts[1].prefix(Self.spanDigits), digits: Self.spanDigits),
      let low = Self.number(parts[1].dropFirst(Self.spanDigits), digits: Self.spanDigits), high | low != 0,
      let span = Self.number(parts[2], digits: Self.spanDigits), span != 0,
      let flags = Self.number(parts[3], digits: 2)
    else { return nil }
    (trace, self.span) = ((high, low), span)
    isSampled = flags & Self.sampledFlag != 0
    self.state = state.flatMap { $0.utf8.count <= Self.longestState ? $0 : nil }
  }

  private init(trace: (high: UInt64, low: UInt64), span: UInt64, isSampled: Bool) {
    (self.trace, self.span, self.isSampled) = (trace, span, isSampled)
  }

  /// The value of `traceparent` for requests below this span.
  var parent: String {
    "00-\(Self.digits(trace.high))\(Self.digits(trace.low))-\(Self.digits(span))-\(isSampled ? "01" : "00")"
  }

  /// A number in lower-case hexadecimal digits alone.
  private static func number(_ text: Substring, digits: Int) -> UInt64? {
    let isPlain = text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    return isPlain && text.utf8.count == digits ? UInt64(text, radix: 16) : nil
  }

  /// Sixteen hexadecimal digits.
  static func digits(_ number: UInt64) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: spanDigits - text.utf8.count) + text
  }
}

/// Makes identities of traces and spans. They are no secrets, so that one random beginning is enough (SplitMix64): the
/// system's random numbers take microseconds each.
final class TraceIdentities: Sendable {
  static let shared = TraceIdentities()

  private static let increment: UInt64 = 0x9e37_79b9_7f4a_7c15
  private let state = Atomic(UInt64.random(in: .min ... .max))

  /// Three numbers that are not 0.
  func next() -> (UInt64, UInt64, UInt64) {
    let last = state.wrappingAdd(Self.increment &* 3, ordering: .relaxed).newValue
    return (Self.mix(last), Self.mix(last &- Self.increment), Self.mix(last &- Self.increment &* 2))
  }

  private static func mix(_ state: UInt64) -> UInt64 {
    var number = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
    number = (number ^ (number >> 27)) &* 0x94d0_49bb_1331_11eb
    return max(1, number ^ (number >> 31))
  }
}

extension ServiceContext {
  private enum TraceContextKey: ServiceContextKey {
    typealias Value = TraceContext
    static var nameOverride: String? { "trace-context" }
  }

  var trace: TraceContext? {
    get { self[TraceContextKey.self] }
    set { self[TraceContextKey.self] = newValue }
  }
}
