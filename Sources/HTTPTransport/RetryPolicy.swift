/// Exponential back-off: bounds of pauses that double with each consecutive failure.
package struct Backoff: Sendable {
  /// The first bound.
  package var first: Duration
  /// The largest bound.
  package var longest: Duration

  /// The bound after so many consecutive failures, from 1.
  func bound(after failures: Int) -> Duration { min(first * (1 << min(max(failures, 1) - 1, 20)), longest) }
}

/// When and how often a failed attempt is retried. A pure value: the caller provides the random numbers.
package struct RetryPolicy: Sendable {
  /// The most attempts, including the first; default 4.
  package var maximumAttempts = 4
  /// The upper bounds of the random pauses; default 0.5 s to 10 s.
  package var backoff = Backoff(first: .milliseconds(500), longest: .seconds(10))

  /// The pause before the next attempt after `attempt` attempts; nil when there should be none.
  ///
  /// "Full jitter": any pause up to the bound is equally likely, so that clients that failed together do not retry
  /// together. A pause that a server requests applies to its whole host and is handled by `CircuitBreaker`; none is
  /// added.
  func pause(
    after error: DownloadError, of purpose: DownloadRequest.Purpose = .image, attempt: Int,
    using random: inout some RandomNumberGenerator
  ) -> Duration? {
    guard attempt < maximumAttempts, isWorthRetrying(error, purpose) else { return nil }
    if error.isPause { return .zero }
    return backoff.bound(after: attempt) * Double.random(in: 0..<1, using: &random)
  }

  /// Whether another attempt may succeed. What else a status of an API means is up to its client.
  private func isWorthRetrying(_ error: DownloadError, _ purpose: DownloadRequest.Purpose) -> Bool {
    switch error {
    case .unreachable, .unresolved, .brokenOff, .wrongRange, .noResources, .timedOut(.connect), .timedOut(.stall),
      .timedOut(.rate):
      true
    case .httpStatus(let status, _) where purpose == .api: status >= 500 && !error.isPause
    case .httpStatus(let status, _): status == 408 || status == 429 || (500..<600).contains(status)
    default: false
    }
  }
}

/// Counts the attempts of one download, and decides about the next. A pure value.
struct AttemptCounter: Sendable {
  /// An attempt that received this many bytes, which the next need not fetch again, does not count as failed.
  static let worthwhileProgress = 256 << 10

  private let policy: RetryPolicy
  private let purpose: DownloadRequest.Purpose
  /// Bytes of a partial body when the last attempt began that made progress.
  private var progress: Int
  /// Attempts since then.
  private var attempt = 0
  /// All attempts so far.
  private(set) var total = 0

  /// `partialBytes` can be resumed.
  init(_ policy: RetryPolicy, for request: DownloadRequest, partialBytes: Int) {
    var policy = policy
    policy.maximumAttempts = min(policy.maximumAttempts, request.attempts ?? .max)
    self.policy = policy
    purpose = request.purpose
    progress = partialBytes
  }

  /// Whether no attempt follows the current one if it makes no progress.
  var isLast: Bool { attempt >= policy.maximumAttempts }

  /// An attempt begins.
  mutating func begin() {
    attempt += 1
    total += 1
  }

  /// The current attempt is made again in another way, and does not count as failed.
  mutating func repeatCurrent() { attempt -= 1 }

  /// The pause before the next attempt; nil when there is none. `partialBytes` of the body are there to be resumed.
  mutating func pause(
    after error: DownloadError, partialBytes: Int, using random: inout some RandomNumberGenerator
  ) -> Duration? {
    // A server that breaks off repeatedly, but makes progress each time, is worth retrying.
    if partialBytes >= progress + Self.worthwhileProgress { (attempt, progress) = (1, partialBytes) }
    return policy.pause(after: error, of: purpose, attempt: attempt, using: &random)
  }
}
