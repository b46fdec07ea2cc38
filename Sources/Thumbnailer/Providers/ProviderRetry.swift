import Foundation

/// When and how often a request to a provider is made again.
///
/// Only after failures that pass: no connection, an answer that broke off, a server that is in trouble. Each wait is a
/// random part of a time that doubles ("full jitter"), so that many clients do not come back at once.
struct ProviderRetry: Sendable {
  /// No retries: for a client that repeats such requests by itself, as the one on curl does.
  static let none = ProviderRetry(limit: 0)

  /// How often a request is made again, at most.
  var limit = 3
  /// The longest wait before the first retry.
  var firstWait = Duration.milliseconds(250)
  /// The longest wait before any retry.
  var longestWait = Duration.seconds(4)
  /// A server that asks for more than this is not waited for.
  var longestRetryAfter = Duration.seconds(10)
  /// Suspends the task. Throws when the task is cancelled.
  var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  /// A number from 0 to 1.
  var random: @Sendable () -> Double = { .random(in: 0...1) }
  /// The time of day, to compare with a date in `Retry-After`.
  var now: @Sendable () -> Date = { Date() }

  /// How long to wait before retry number `number`, from 1; nil when there shall be none.
  ///
  /// - Parameter retryAfter: What the server asked for.
  func wait(before number: Int, retryAfter: Duration?) -> Duration? {
    guard number <= limit, (retryAfter ?? .zero) <= longestRetryAfter else { return nil }
    let doubled = firstWait * (1 << min(number - 1, 16))
    return max(min(doubled, longestWait) * random(), retryAfter ?? .zero)
  }

  /// How long the server asks to be left alone: `Retry-After` in seconds or as a date.
  func retryAfter(of response: HTTPResponse) -> Duration? {
    guard let text = response.value(of: "Retry-After")?.trimmingCharacters(in: .whitespaces) else { return nil }
    if let seconds = Int(text) { return .seconds(min(max(0, seconds), 1 << 31)) }
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = .gmt
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    guard let date = formatter.date(from: text) else { return nil }
    return .seconds(min(max(0, date.timeIntervalSince(now()).rounded(.up)), 0x1p31))
  }
}
