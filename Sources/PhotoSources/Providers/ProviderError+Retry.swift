/// What an error means for the next request.
extension ProviderError {
  /// Whether the source did not respond at all, so that stored photos are shown instead.
  var isUnreachable: Bool {
    switch self {
    case .unreachable: true
    case .allFailed(let errors): errors.contains { $0.isUnreachable }
    default: false
    }
  }

  /// Whether the same request may succeed later without any action of the user.
  var mayPass: Bool {
    switch self {
    // A cancelled request is repeated: a deliberate cancellation ignores the response.
    case .unreachable, .rateLimited, .malformed, .cancelled: true
    case .allFailed(let errors): errors.contains { $0.mayPass }
    default: false
    }
  }

  /// Whether a fallback provider may succeed.
  var allowsFallback: Bool {
    switch self {
    case .rateLimited, .blocked, .unreachable, .addressRefused, .unsupported: true
    default: false
    }
  }

  /// How long to wait at least before the next request; with several services, until the first may respond.
  var retryAfter: Duration {
    switch self {
    case .rateLimited(_, let pause?): pause
    case .allFailed(let errors): errors.lazy.filter(\.mayPass).map(\.retryAfter).min() ?? .zero
    default: .zero
    }
  }

  /// How long until the provider takes requests again; with several, the shortest time. Nil if the error is no rate
  /// limit.
  var pause: Duration? {
    switch self {
    case .rateLimited(_, let pause): pause
    case .allFailed(let errors): errors.compactMap(\.pause).min()
    default: nil
    }
  }

  /// The provider that limits requests; nil if there are several.
  var limitingProvider: String? {
    if case .rateLimited(let provider, _) = self { provider } else { nil }
  }
}
