import Foundation
import HTTPSemantics
import HTTPTransport

/// What is particular about the HTTP of one provider.
struct ProviderDialect: Sendable {
  /// What the provider is called in messages.
  var name: String
  /// The header fields of every request, the key aside.
  var headers: [HTTPHeader] = []
  /// What stands before the key in its header field: `Client-ID`. Empty where nothing does.
  var keyScheme = ""
  /// How fast it may be asked.
  var pace = RequestPace.Rule()
  /// Reads from an answer, and the time it came, for how long there are no more requests to be had. Nil while there are.
  var allowance: @Sendable (HTTPResponse, Date) -> Duration? = { _, _ in nil }
  /// How long it is left alone when it takes no more requests and does not say for how long.
  var unnamedPause: @Sendable (Date) -> Duration = { _ in .seconds(60) }
  /// Says what an answer means where it means something else than with others. Sees every answer, whatever its status.
  var exception: @Sendable (HTTPResponse) -> ProviderError? = { _ in nil }
}
