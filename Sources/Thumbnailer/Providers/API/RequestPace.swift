/// When the next request may go to a provider, so that its limits are kept before they are hit. A pure value without a
/// clock of its own.
struct RequestPace {
  /// What a provider wants.
  struct Rule: Sendable {
    /// From the start of one request to the start of the next, at least.
    var interval = Duration.zero
    /// The most requests under way at once.
    var atOnce = 8
  }

  /// What a request has to do.
  enum Turn: Equatable {
    /// Go after so long a wait. The turn is taken: whoever asks next comes behind.
    case go(after: Duration)
    /// Not go at all: the provider takes no more for now. `retryAfter` is how long, where the provider said so.
    case refused(retryAfter: Duration?)
  }

  private struct Closure {
    var end: ContinuousClock.Instant
    var isTold: Bool
  }

  private let rule: Rule
  private var nextStart: ContinuousClock.Instant?
  private var closure: Closure?

  init(_ rule: Rule) { self.rule = rule }

  /// Takes the next turn.
  mutating func turn(at now: ContinuousClock.Instant) -> Turn {
    if let closure, closure.end > now { return .refused(retryAfter: closure.isTold ? closure.end - now : nil) }
    closure = nil
    let start = max(nextStart ?? now, now)
    nextStart = start + rule.interval
    return .go(after: start - now)
  }

  /// Lets nothing through for a while. `isTold` says whether it was the provider who named its length.
  mutating func close(for pause: Duration, isTold: Bool, at now: ContinuousClock.Instant) {
    guard pause > .zero, closure.map({ $0.end < now + pause }) ?? true else { return }
    closure = Closure(end: now + pause, isTold: isTold)
  }
}

/// That nothing more may be asked of a provider for a while, as the header fields of an answer say.
struct UsedUpAllowance: Equatable {
  /// For how long.
  var pause: Duration
  /// Whether the provider said so itself; else it is known from its documentation, and may be longer than need be.
  var isTold: Bool
}
