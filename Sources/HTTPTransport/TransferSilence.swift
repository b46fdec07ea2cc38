/// Whether a transfer has fallen silent. A pure value: the clock is the caller's.
struct TransferSilence: Sendable {
  /// What follows from bytes that came.
  struct Arrival: Equatable {
    /// How long the answer took to begin; nil when it had begun before.
    var responseTime: Duration?
    /// Whether they end a silence.
    var endsSilence: Bool
  }

  private let start: ContinuousClock.Instant
  private var hasBegun = false
  /// When something last came, or the start.
  private(set) var since: ContinuousClock.Instant
  /// Whether it has fallen silent, and nothing has come since.
  private(set) var isSilent = false

  init(start: ContinuousClock.Instant) { (self.start, since) = (start, start) }

  /// Notes that something has come.
  mutating func somethingCame(at now: ContinuousClock.Instant) -> Arrival {
    defer { (since, hasBegun, isSilent) = (now, true, false) }
    return Arrival(responseTime: hasBegun ? nil : now - start, endsSilence: isSilent)
  }

  /// When to look again; nil when the transfer has fallen silent, be it just now.
  ///
  /// `patience` is asked for only where it matters, after `shortest`.
  mutating func check(
    now: ContinuousClock.Instant, shortest: Duration, patience: () -> Duration
  ) -> ContinuousClock.Instant? {
    if isSilent { return nil }
    if now < since + shortest { return since + shortest }
    let end = since + max(shortest, patience())
    if now < end { return end }
    isSilent = true
    return nil
  }
}
