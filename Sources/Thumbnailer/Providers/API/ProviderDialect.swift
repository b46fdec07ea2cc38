import Foundation

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
  /// Reads from an answer, and the time it came, that there are no more requests to be had.
  var allowance: @Sendable (HTTPResponse, Date) -> UsedUpAllowance? = { _, _ in nil }
  /// Says what an answer means where it means something else than with others. Sees every answer, whatever its status.
  var exception: @Sendable (HTTPResponse) -> ProviderError? = { _ in nil }
}
