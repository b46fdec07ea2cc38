extension CircuitBreaker.Hold {
  /// The error of a download that does not wait for the hold to end.
  func error(of site: String, now: ContinuousClock.Instant) -> DownloadError {
    let left = max(until - now, .zero)
    return switch cause {
    case .asked: .hostPaused(host: Self.host(of: site), retryAfter: left)
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

extension CircuitBreaker.Verdict {
  /// What a transfer's result says about its host.
  init(_ result: Result<TransferResponse, DownloadError>) {
    switch result {
    case .success(let response): self.init(response.head)
    case .failure(let error): self.init(error)
    }
  }

  private init(_ head: ResponseHead) {
    switch (head.status, head.retryAfter()) {
    case (429, let wish): self = .pause(wish)
    case (503, let wish?): self = .pause(wish)
    case (500..<600, _): self = .failed(reason: "status \(head.status)")
    default: self = .answered
    }
  }

  private init(_ error: DownloadError) {
    switch error {
    case .unreachable(let reason), .untrusted(let reason): self = .failed(reason: reason)
    case .timedOut(.connect): self = .failed(reason: "no connection in time")
    case .timedOut(.stall): self = .failed(reason: "it fell silent")
    case .timedOut(.rate): self = .failed(reason: "it was too slow")
    case .brokenOff: self = .failed(reason: "the connection broke off")
    // The host works: it has sent something that we did not want.
    case .tooLarge, .refusedByObserver, .wrongRange, .unknownEncoding: self = .answered
    default: self = .none
    }
  }
}
