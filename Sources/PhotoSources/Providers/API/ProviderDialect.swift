import Foundation
import HTTPSemantics
import HTTPTransport
import ThumbnailCore

/// The particular properties of one provider's HTTP API.
struct ProviderDialect: Sendable {
  /// The provider's name in messages.
  var name: String
  /// The header fields of every request, except for the key.
  var headers: [HTTPHeader] = []
  /// The scheme before the key in its header field: `Client-ID`. Empty without one.
  var keyScheme = ""
  /// The request rate.
  var pace = RequestPace.Rule()
  /// Reads from a response and the time of its arrival how long the limit is used up. Nil while requests are left.
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

/// An access key that is redacted wherever it is printed; only the request header contains it.
struct AccessKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  private let value: String

  /// Trims white space. Nil for an empty text, for one that is invalid in a header field, and for placeholders such as
  /// dots in copied instructions.
  init?(_ text: String) {
    let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard trimmed.utf8.allSatisfy({ (0x21...0x7e).contains($0) }),
      trimmed.contains(where: { $0.isLetter || $0.isNumber })
    else { return nil }
    value = trimmed
  }

  /// The header field with the key, after the scheme if there is one.
  func header(scheme: String) -> HTTPHeader {
    HTTPHeader("Authorization", scheme.isEmpty ? value : "\(scheme) \(value)")
  }

  /// A prefix of the key's digest, which distinguishes keys without revealing them.
  var digestPrefix: String { SHA256.hash(value.utf8).prefix(4).map { String($0, radix: 16) }.joined(separator: "-") }

  /// The text with every occurrence of the key redacted.
  func redacted(in text: String) -> String { text.replacing(value, with: "[key]") }

  var description: String { "[key]" }
  var debugDescription: String { description }
  var customMirror: Mirror { Mirror(self, children: []) }
}
