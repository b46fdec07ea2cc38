import Foundation
import HTTPSemantics
import HTTPTransport

/// How one provider's HTTP API differs from the others.
struct ProviderDialect: Sendable {
  /// The provider's name in messages.
  var name: String
  /// The header fields of every request, except for the key.
  var headers: [HTTPHeader] = []
  /// The scheme before the key in its header field: `Client-ID`. Empty without one.
  var keyScheme = ""
  /// The request rate.
  var pace = RequestPace.Rule()
  /// Reads from a response, and the time it arrived, how long the limit is used up. Nil while requests are left.
  var allowance: @Sendable (HTTPResponse, Date) -> Duration? = { _, _ in nil }
  /// The pause after a rate limit error that does not give a time.
  var unnamedPause: @Sendable (Date) -> Duration = { _ in .seconds(60) }
  /// Maps responses with a provider-specific meaning to errors. Called for every response, whatever its status.
  var exception: @Sendable (HTTPResponse) -> ProviderError? = { _ in nil }
}

/// The clock of a provider. Tests inject one that does not wait.
struct ProviderClock: Sendable {
  /// For intervals.
  var now: @Sendable () -> ContinuousClock.Instant = { .now }
  /// For dates that a provider sends.
  var date: @Sendable () -> Date = { Date() }
  /// Waits; throws when the task is cancelled.
  var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
}
