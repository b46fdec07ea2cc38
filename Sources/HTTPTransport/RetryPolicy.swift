/// Exponential back-off: bounds of pauses that double with each consecutive failure.
package struct Backoff: Sendable {
  /// The first bound.
  package var first: Duration
  /// The largest bound.
  package var longest: Duration

  /// Lowers the largest bound, but not below the first.
  mutating func limit(to longest: Duration) { self.longest = min(self.longest, max(first, longest)) }

  /// The bound after so many consecutive failures, from 1.
  func bound(after failures: Int) -> Duration { min(first * (1 << min(max(failures, 1) - 1, 20)), longest) }
}

/// When and how often a failed attempt is retried. A pure value: the caller provides the random numbers.
package struct RetryPolicy: Sendable {
  /// An attempt that received this many bytes does not count as failed, because the next one resumes after them.
  static let worthwhileProgress = 256 << 10

  /// The most attempts, including the first; default 4.
  package var maximumAttempts = 4
  /// The upper bounds of the random pauses; default 0.5 s to 10 s.
  package var backoff = Backoff(first: .milliseconds(500), longest: .seconds(10))

  /// The pause before the next attempt; nil if no attempt should follow.
  ///
  /// "Full jitter": any pause up to the bound is equally likely, so that clients that failed together do not retry
  /// together. It is added to the pause that the server asks for.
  ///
  /// - Parameters:
  ///   - failures: The failed attempts that count. 0 means that the host is to blame, and then the admission makes the
  ///     download wait.
  ///   - most: The most attempts.
  func pause(
    after error: DownloadError, of purpose: DownloadRequest.Purpose = .image, failures: Int, most: Int,
    using random: inout some RandomNumberGenerator
  ) -> Duration? {
    guard failures < most, isWorthRetrying(error, purpose) else { return nil }
    let pause = failures == 0 ? .zero : backoff.bound(after: failures) * Double.random(in: 0..<1, using: &random)
    return pause + (error.requestedPause ?? .zero)
  }

  /// Whether another attempt may succeed. The client of an API handles its other statuses.
  func isWorthRetrying(_ error: DownloadError, _ purpose: DownloadRequest.Purpose) -> Bool {
    switch error {
    case .unreachable, .noResponse, .unresolved, .brokenOff, .wrongRange, .noResources, .timedOut(.connect),
      .timedOut(.stall), .timedOut(.rate):
      true
    case .httpStatus(let status, _) where purpose == .api: status >= 500 && !error.isPause
    case .httpStatus(let status, _): status == 408 || status == 429 || (500..<600).contains(status)
    default: false
    }
  }
}

/// The total time for pauses of hosts. Overlapping pauses count once. A pure value.
struct WaitBudget: Sendable {
  /// The limit.
  let total: Duration
  private var spent = Duration.zero
  /// The end of the pauses that were taken from the budget.
  private var coveredUntil: ContinuousClock.Instant?

  init(_ total: Duration) { self.total = total }

  /// Takes the time from now to `end` from the budget. False, without taking anything, if that exceeds the rest.
  mutating func take(until end: ContinuousClock.Instant, from now: ContinuousClock.Instant) -> Bool {
    let start = max(coveredUntil ?? now, now)
    let cost = max(.zero, end - start)
    guard cost <= total - spent, total > .zero else { return false }
    spent += cost
    coveredUntil = max(coveredUntil ?? end, end)
    return true
  }
}
