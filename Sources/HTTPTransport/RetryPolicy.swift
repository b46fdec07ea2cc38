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
  /// An attempt that received this many bytes, which the next need not fetch again, does not count as failed.
  static let worthwhileProgress = 256 << 10

  /// The most attempts, including the first; default 4.
  package var maximumAttempts = 4
  /// The upper bounds of the random pauses; default 0.5 s to 10 s.
  package var backoff = Backoff(first: .milliseconds(500), longest: .seconds(10))

  /// The pause before the next attempt; nil when there should be none.
  ///
  /// "Full jitter": any pause up to the bound is equally likely, so that clients that failed together do not retry
  /// together. It begins after the pause that the server asks for.
  ///
  /// - Parameters:
  ///   - failures: The failed attempts that count. With 0 the host is to blame, which the download waits for elsewhere.
  ///   - most: The most attempts.
  func pause(
    after error: DownloadError, of purpose: DownloadRequest.Purpose = .image, failures: Int, most: Int,
    using random: inout some RandomNumberGenerator
  ) -> Duration? {
    guard failures < most, isWorthRetrying(error, purpose) else { return nil }
    let pause = failures == 0 ? .zero : backoff.bound(after: failures) * Double.random(in: 0..<1, using: &random)
    return pause + (error.requestedPause ?? .zero)
  }

  /// Whether another attempt may succeed. What else a status of an API means is up to its client.
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
