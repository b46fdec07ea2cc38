import Foundation
import ThumbnailCore

/// A rate limiter: decides when the next request may be sent, so that the provider's limits are not hit. A pure value
/// without a clock.
struct RequestPace {
  /// A provider's limits.
  struct Rule: Sendable {
    /// The least average interval between the starts of two requests.
    var interval = Duration.zero
    /// The number of requests that may be sent at once after a sufficient idle time.
    var burst = 1
    /// The most concurrent requests.
    var atOnce = 8
  }

  /// The decision about a request.
  enum Turn: Equatable {
    /// Send it after this wait. The turn is taken: the next request gets a later one.
    case go(after: Duration)
    /// Do not send it: the provider takes no requests for this long.
    case refused(retryAfter: Duration)
  }

  private let rule: Rule
  /// When the next request would start if all had kept the interval.
  private var due: ContinuousClock.Instant?
  /// When the provider takes requests again.
  private var closedUntil: ContinuousClock.Instant?

  init(_ rule: Rule) { self.rule = rule }

  /// The pace that all processes share. Times too far ahead, as after the clock was set back, are ignored.
  init(_ rule: Rule, _ record: HostRecord, now: ContinuousClock.Instant, date: Date) {
    self.rule = rule
    func instant(_ time: Date?, atMost longest: Duration) -> ContinuousClock.Instant? {
      guard let ahead = time?.timeIntervalSince(date), ahead > 0, ahead <= longest / .seconds(1) else { return nil }
      return now + .seconds(ahead)
    }
    due = instant(record.due, atMost: rule.interval * (rule.burst + Self.mostProcesses))
    closedUntil = instant(record.until, atMost: Self.longestPause)
  }

  /// Saves the pace for other processes.
  func write(to record: inout HostRecord, now: ContinuousClock.Instant, date: Date) {
    record.due = due.map { date + ($0 - now) / .seconds(1) }
    record.until = closedUntil.map { date + ($0 - now) / .seconds(1) }
  }

  /// The most processes assumed to wait at once; bounds how far ahead `due` may be.
  private static let mostProcesses = 100
  /// Longer pauses are ignored or cut to this.
  static let longestPause = Duration.seconds(86_400)

  /// Takes the next turn.
  mutating func turn(at now: ContinuousClock.Instant) -> Turn {
    if let pause = pause(at: now) { return .refused(retryAfter: pause) }
    let due = max(due ?? now, now)
    self.due = due + rule.interval
    return .go(after: max(.zero, due - rule.interval * (rule.burst - 1) - now))
  }

  /// Returns the turn of a request that was cancelled before it was sent, so that later ones need not wait for it.
  mutating func returnTurn() { due = due.map { $0 - rule.interval } }

  /// Blocks requests for a while. Never shortens a pause.
  mutating func close(for pause: Duration, at now: ContinuousClock.Instant) {
    closedUntil = max(closedUntil ?? now, now + pause)
  }

  /// The remaining pause; nil if requests may be sent.
  func pause(at now: ContinuousClock.Instant) -> Duration? {
    closedUntil.flatMap { $0 > now ? $0 - now : nil }
  }
}
