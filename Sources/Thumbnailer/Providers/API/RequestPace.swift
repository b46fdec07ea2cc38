/// When the next request may go to a provider, so that its limits are kept before they are hit. A pure value without a
/// clock of its own.
struct RequestPace {
  /// What a provider wants.
  struct Rule: Sendable {
    /// From the start of one request to the start of the next, on average at least.
    var interval = Duration.zero
    /// How many may follow each other at once, when there was none for long enough.
    var burst = 1
    /// The most requests under way at once.
    var atOnce = 8
  }

  /// What a request has to do.
  enum Turn: Equatable {
    /// Go after so long a wait. The turn is taken: whoever asks next comes behind.
    case go(after: Duration)
    /// Not go at all: for so long the provider takes no more.
    case refused(retryAfter: Duration)
  }

  private let rule: Rule
  /// When the next request would start, if all had kept the interval.
  private var due: ContinuousClock.Instant?
  /// When the provider takes requests again.
  private var closedUntil: ContinuousClock.Instant?

  init(_ rule: Rule) { self.rule = rule }

  /// Takes the next turn.
  mutating func turn(at now: ContinuousClock.Instant) -> Turn {
    if let pause = pause(at: now) { return .refused(retryAfter: pause) }
    let due = max(due ?? now, now)
    self.due = due + rule.interval
    return .go(after: max(.zero, due - rule.interval * (rule.burst - 1) - now))
  }

  /// Gives a turn back whose request was given up before it went, so that the next need not wait for its sake.
  mutating func giveBack() { due = due.map { $0 - rule.interval } }

  /// Lets nothing through for a while. A shorter pause does not end a longer one.
  mutating func close(for pause: Duration, at now: ContinuousClock.Instant) {
    closedUntil = max(closedUntil ?? now, now + pause)
  }

  /// For how long nothing is let through; nil when requests may go.
  func pause(at now: ContinuousClock.Instant) -> Duration? {
    closedUntil.flatMap { $0 > now ? $0 - now : nil }
  }
}
