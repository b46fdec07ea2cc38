/// The total time that may be spent waiting for pauses of hosts. Overlapping pauses count once. A pure value.
struct WaitBudget: Sendable {
  /// The limit.
  let total: Duration
  private var spent = Duration.zero
  /// Until when waiting is already paid for.
  private var coveredUntil: ContinuousClock.Instant?

  init(_ total: Duration) { self.total = total }

  /// Takes the cost of waiting from now to `end`. False, without taking anything, if more than what is left.
  mutating func take(until end: ContinuousClock.Instant, from now: ContinuousClock.Instant) -> Bool {
    let start = max(coveredUntil ?? now, now)
    let cost = max(.zero, end - start)
    guard cost <= total - spent, total > .zero else { return false }
    spent += cost
    coveredUntil = max(coveredUntil ?? end, end)
    return true
  }
}
