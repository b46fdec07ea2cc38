import Foundation
import ThumbnailCore

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

  /// The pace as all processes have noted it together. Times that are further ahead than makes sense, as after the clock
  /// was set back, count for nothing.
  init(_ rule: Rule, _ record: HostRecord, now: ContinuousClock.Instant, date: Date) {
    self.rule = rule
    func instant(_ time: Date?, atMost longest: Duration) -> ContinuousClock.Instant? {
      guard let ahead = time.map({ Duration.seconds($0.timeIntervalSince(date)) }) else { return nil }
      return ahead > .zero && ahead <= longest ? now + ahead : nil
    }
    due = instant(record.due, atMost: rule.interval * (rule.burst + Self.mostProcesses))
    closedUntil = instant(record.until, atMost: Self.longestPause)
  }

  /// Notes the pace for the others.
  func write(to record: inout HostRecord, now: ContinuousClock.Instant, date: Date) {
    record.due = due.map { date + ($0 - now) / .seconds(1) }
    record.until = closedUntil.map { date + ($0 - now) / .seconds(1) }
  }

  /// So many are believed to wait for their turn at once.
  private static let mostProcesses = 100
  /// No pause is believed to be longer.
  static let longestPause = Duration.seconds(86_400)

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
