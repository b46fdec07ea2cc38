/// How long may be waited in all for pauses that hosts want. Pauses that overlap count once. A pure value.
struct WaitAllowance: Sendable {
  /// In all.
  let total: Duration
  private var spent = Duration.zero
  /// Until when somebody waits already.
  private var coveredUntil: ContinuousClock.Instant?

  init(_ total: Duration) { self.total = total }

  /// Takes what waiting from now to `end` costs. False where that is more than what is left; nothing is taken then.
  mutating func take(until end: ContinuousClock.Instant, from now: ContinuousClock.Instant) -> Bool {
    let start = max(coveredUntil ?? now, now)
    let cost = max(.zero, end - start)
    guard cost <= total - spent, total > .zero else { return false }
    spent += cost
    coveredUntil = max(coveredUntil ?? end, end)
    return true
  }
}
