/// Detects that a transfer has fallen silent. A pure value: the caller passes the time.
struct SilenceDetector: Sendable {
  /// The effect of bytes that arrived.
  struct Arrival: Equatable {
    /// How long the response took to begin; nil when it had begun before.
    var responseTime: Duration?
    /// Whether they end a silence.
    var endsSilence: Bool
  }

  private let start: ContinuousClock.Instant
  private var hasBegun = false
  /// When bytes last arrived, or the start.
  private(set) var since: ContinuousClock.Instant
  /// Whether it has fallen silent, and nothing has arrived since.
  private(set) var isSilent = false

  init(start: ContinuousClock.Instant) { (self.start, since) = (start, start) }

  /// Records that bytes have arrived.
  mutating func recordArrival(at now: ContinuousClock.Instant) -> Arrival {
    defer { (since, hasBegun, isSilent) = (now, true, false) }
    return Arrival(responseTime: hasBegun ? nil : now - start, endsSilence: isSilent)
  }

  /// When to check again; nil when the transfer is silent, just now or already.
  ///
  /// `timeout` is evaluated only after `shortest` has passed.
  mutating func check(
    now: ContinuousClock.Instant, shortest: Duration, timeout: () -> Duration
  ) -> ContinuousClock.Instant? {
    if isSilent { return nil }
    if now < since + shortest { return since + shortest }
    let end = since + max(shortest, timeout())
    if now < end { return end }
    isSilent = true
    return nil
  }
}
