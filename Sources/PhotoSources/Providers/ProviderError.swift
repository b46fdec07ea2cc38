/// The errors of providers. No case ever holds an access key.
public enum ProviderError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The task was cancelled.
  case cancelled
  /// The provider does not accept the access key.
  case unauthorized(provider: String)
  /// Too many requests. `retryAfter` is the time that the provider gives, or else the one from its documentation, which
  /// may be longer than necessary.
  case rateLimited(provider: String, retryAfter: Duration?)
  /// The provider rejects the query.
  case badRequest(provider: String, reason: String)
  /// The provider refuses to serve us.
  case blocked(provider: String, reason: String)
  /// There is no such service at the URL.
  case notFound(provider: String)
  /// There was no response, even after retries.
  case unreachable(provider: String, reason: String)
  /// No address of the provider is allowed (`AddressPolicy`).
  case addressRefused(provider: String, reason: String)
  /// The response does not match the provider's documentation. `snippet` is its beginning.
  case malformed(provider: String, snippet: String)
  /// There is no such folder.
  case folderMissing(path: String)
  /// The path is something other than a folder.
  case notAFolder(path: String)
  /// The folder cannot be listed.
  case folderUnreadable(path: String, reason: String)
  /// The list of URLs cannot be read.
  case listUnreadable(path: String, reason: String)
  /// The provider does not support the operation.
  case unsupported(provider: String, reason: String)
  /// There is no provider of that name.
  case unknownProvider(String)
  /// The provider needs an access key in an environment variable that is not set.
  case keyMissing(provider: String, variable: String, page: String)
  /// The environment variable for the provider's access key holds no usable key.
  case keyUnusable(provider: String, variable: String, page: String)
  /// The provider's base URL is invalid.
  case invalidAddress(String)

  /// A stable, machine-readable name of the case: `rate-limited`.
  public var code: String {
    switch self {
    case .cancelled: "cancelled"
    case .unauthorized: "unauthorized"
    case .rateLimited: "rate-limited"
    case .badRequest: "bad-request"
    case .blocked: "blocked"
    case .notFound: "not-found"
    case .unreachable: "unreachable"
    case .addressRefused: "address-refused"
    case .malformed: "malformed"
    case .folderMissing: "folder-missing"
    case .notAFolder: "not-a-folder"
    case .folderUnreadable: "folder-unreadable"
    case .listUnreadable: "list-unreadable"
    case .unsupported: "unsupported"
    case .unknownProvider: "unknown-provider"
    case .keyMissing: "key-missing"
    case .keyUnusable: "key-unusable"
    case .invalidAddress: "invalid-address"
    }
  }

  /// The problem and what to do, in one line for use after a program's name: no capital, no full stop.
  public var message: String {
    switch self {
    case .cancelled:
      "the search was cancelled"
    case .unauthorized(let provider):
      "\(provider) does not accept the access key"
        + (ProviderSpecification.keys[provider].map { " in \($0.variable); check it at \($0.page)" }
          ?? "; check it on the provider's page for developers")
    case .rateLimited(let provider, let retryAfter):
      "\(provider) takes no more requests for now; "
        + (retryAfter.map { "try again in \($0.inWords)" } ?? "try again later")
    case .badRequest(let provider, let reason):
      "\(provider) does not accept the query: \(reason)"
    case .blocked(let provider, let reason):
      "\(provider) refuses to answer: \(reason)"
    case .notFound(let provider):
      "there is no \(provider) service at this address (404); check the provider's URL"
    case .unreachable(let provider, let reason):
      "\(provider) cannot be reached: \(reason); check the network and the address, or try again later"
    case .addressRefused(let provider, let reason):
      "\(provider) is not asked: \(reason); check the provider's URL, or allow its network (addresses)"
    case .malformed(let provider, let snippet):
      "\(provider) answered with something that cannot be read: \(snippet)"
    case .folderMissing(let path):
      "there is no folder \(path); check the path"
    case .notAFolder(let path):
      "\(path) is not a folder; name the folder that the pictures are in"
    case .folderUnreadable(let path, let reason):
      "the folder \(path) cannot be read: \(reason); check its permissions"
    case .listUnreadable(let path, let reason):
      "the list \(path) cannot be read: \(reason); check the path"
    case .unsupported(let provider, let reason):
      "\(provider): \(reason)"
    case .unknownProvider(let text):
      "there is no provider \(Snippet.quoted(text)); choose unsplash, pexels or commons, or "
        + "write folder:\(text.isEmpty ? "PATH" : Snippet.line(text)) for the folder of that name"
    case .keyMissing(let provider, let variable, let page):
      "\(provider) needs an access key: get one at \(page) and set \(variable)"
    case .keyUnusable(let provider, let variable, let page):
      "\(variable) is set to something that is no access key of \(provider): get one at \(page), or unset \(variable)"
    case .invalidAddress(let text):
      "\(Snippet.quoted(text)) is not the address of a provider; write it like https://api.example.org"
    }
  }

  /// The message.
  public var description: String { message }
}

/// The consequences of an error for the next request.
extension ProviderError {
  /// Whether the source did not respond at all, so that stored photos are shown instead.
  var isUnreachable: Bool { if case .unreachable = self { true } else { false } }

  /// Whether the same request may succeed later without an action of the user.
  var mayPass: Bool {
    switch self {
    // A cancelled request is repeated: a deliberate cancellation ignores the response.
    case .unreachable, .rateLimited, .malformed, .cancelled: true
    default: false
    }
  }

  /// The least time before the next request, as the provider has said; nil if it has not.
  var pause: Duration? { if case .rateLimited(_, let pause) = self { pause } else { nil } }
  var retryAfter: Duration { pause ?? .zero }

  /// The provider that limits requests.
  var limitingProvider: String? { if case .rateLimited(let provider, _) = self { provider } else { nil } }
}
