import ThumbnailCore

/// Why a provider has no photos to give. No case ever holds an access key.
public enum ProviderError: Error, Hashable, Sendable {
  /// The task was cancelled.
  case cancelled
  /// The provider does not accept the access key.
  case unauthorized(provider: String)
  /// Too many requests. `retryAfter` is how long the provider is to be left alone: as it says itself, or else as its
  /// documentation does, and then it may be longer than need be.
  case rateLimited(provider: String, retryAfter: Duration?)
  /// The provider does not understand or accept the query.
  case badRequest(provider: String, reason: String)
  /// The provider refuses to serve us.
  case blocked(provider: String, reason: String)
  /// There is no such service at the address.
  case notFound(provider: String)
  /// No answer was to be had, after some attempts.
  case unreachable(provider: String, reason: String)
  /// The answer is not what the provider's documentation promises. `snippet` is its beginning.
  case malformed(provider: String, snippet: String)
  /// There is no such folder.
  case folderMissing(path: String)
  /// The path is something other than a folder.
  case notAFolder(path: String)
  /// The folder cannot be listed.
  case folderUnreadable(path: String, reason: String)
  /// The list of URLs cannot be read.
  case listUnreadable(path: String, reason: String)
  /// The provider cannot do that.
  case unsupported(provider: String, reason: String)
  /// No provider of that name.
  case unknownProvider(String)
  /// The provider needs an access key in an environment variable that is not set.
  case keyMissing(provider: String, variable: String, page: String)
  /// The environment variable for the provider's access key holds something that is no key.
  case keyUnusable(provider: String, variable: String, page: String)
  /// The provider's address is not a URL it can be reached at.
  case invalidAddress(String)
  /// Several providers were asked, one after the other, and none answered: why, of each.
  case noneAnswers([ProviderError])

  /// A short name of the case that stays the same, for programs: `rate-limited`.
  public var code: String {
    switch self {
    case .cancelled: "cancelled"
    case .unauthorized: "unauthorized"
    case .rateLimited: "rate-limited"
    case .badRequest: "bad-request"
    case .blocked: "blocked"
    case .notFound: "not-found"
    case .unreachable: "unreachable"
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
    case .noneAnswers: "none-answers"
    }
  }

  /// What happened and what to do, in one line that can follow the name of a program: no capital, no full stop.
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
      "\(provider) cannot be reached: \(reason); \(Self.networkAdvice)"
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
      "there is no provider \(Snippet.quoted(text)); choose auto, unsplash, pexels, commons, openverse or picsum, or "
        + "write folder:\(text.isEmpty ? "PATH" : Snippet.line(text)) for the folder of that name"
    case .keyMissing(let provider, let variable, let page):
      "\(provider) needs an access key: get one at \(page) and set \(variable)"
    case .keyUnusable(let provider, let variable, let page):
      "\(variable) is set to something that is no access key of \(provider): get one at \(page), or unset \(variable)"
    case .invalidAddress(let text):
      "\(Snippet.quoted(text)) is not the address of a provider; write it like https://api.example.org"
    case .noneAnswers(let errors):
      Self.message(of: errors)
    }
  }

  private static let networkAdvice = "check the network and the address, or try again later"

  /// All that went wrong in one line, with the same advice only once.
  private static func message(of errors: [ProviderError]) -> String {
    let troubles = errors.map { error in
      if case .unreachable(let provider, let reason) = error {
        "\(provider) cannot be reached: \(reason)"
      } else {
        error.message
      }
    }
    let advice = errors.contains { if case .unreachable = $0 { true } else { false } } ? [networkAdvice] : []
    return (troubles + advice).joined(separator: "; ")
  }
}

extension ProviderError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}
