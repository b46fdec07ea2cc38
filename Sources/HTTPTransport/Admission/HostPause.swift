/// An event: a host is paused.
package struct HostPause: Sendable, Equatable {
  /// The name, with the port if it is not the default.
  package var host: String
  /// How long from now.
  package var duration: Duration
  /// The last failure, if failures are the reason; nil if the server asked for the pause.
  package var failure: String?
  /// Whether downloads wait until it is over.
  package var isWaitedFor: Bool
}

extension HostHealth.Hold {
  /// The error of a download that does not wait for the hold to end.
  func error(of site: String, now: ContinuousClock.Instant) -> DownloadError {
    let left = max(until - now, .zero)
    return switch cause {
    case .requested: .hostPaused(host: Self.host(of: site), retryAfter: left)
    case .failures(let reason): .hostClosed(host: Self.host(of: site), reason: reason, retryAfter: left)
    }
  }

  func pause(of site: String, isWaitedFor: Bool, now: ContinuousClock.Instant) -> HostPause {
    var failure: String?
    if case .failures(let reason) = cause { failure = reason }
    return HostPause(
      host: Self.host(of: site), duration: max(until - now, .zero), failure: failure, isWaitedFor: isWaitedFor)
  }

  /// The host of a site for messages: without the scheme and its default port.
  private static func host(of site: String) -> String {
    for (scheme, port) in [("https://", ":443"), ("http://", ":80")] where site.hasPrefix(scheme) {
      let host = site.dropFirst(scheme.count)
      return String(host.hasSuffix(port) ? host.dropLast(port.count) : host)
    }
    return site
  }
}
