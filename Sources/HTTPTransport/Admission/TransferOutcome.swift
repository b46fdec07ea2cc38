/// The outcome of a transfer as evidence about its host.
enum TransferOutcome: Sendable, Equatable {
  /// The host works.
  case responded
  /// The image failed. The host or the image may be to blame.
  case failed(reason: String)
  /// There was no connection, or nothing arrived for a long time. It never shows that the host responds.
  case unreachable(reason: String)
  /// The server asks for a pause, of this duration if it gave one.
  case pause(Duration?)
  /// The outcome is no evidence about the host.
  case inconclusive
}

extension TransferOutcome {
  /// The outcome of a transfer's result. A connection that breaks off after much data is no evidence, because the next
  /// attempt resumes there. The client of an API decides what its 429 means, because it keeps to the service's rate.
  init(_ result: Result<Download, DownloadError>, purpose: DownloadRequest.Purpose) {
    switch result {
    case .success(let download):
      switch (download.status, download.head.retryAfter()) {
      case (429, let requested), (503, let requested): self = purpose == .api ? .responded : .pause(requested)
      case (500..<600, _): self = .failed(reason: "status \(download.status)")
      default: self = .responded
      }
    case .failure(.brokenOff(let received, _)) where received >= RetryPolicy.worthwhileProgress: self = .inconclusive
    case .failure(let error): self.init(error)
    }
  }

  private init(_ error: DownloadError) {
    switch error {
    case .unreachable(let reason), .unresolved(_, let reason), .untrusted(let reason):
      self = .unreachable(reason: reason)
    case .noResponse(let reason): self = .failed(reason: reason)
    case .timedOut(.connect): self = .unreachable(reason: "no connection in time")
    case .timedOut(.stall): self = .failed(reason: "it fell silent")
    case .timedOut(.rate): self = .failed(reason: "it was too slow")
    case .brokenOff: self = .failed(reason: "the connection broke off")
    // The host works: it has sent a body that we did not want.
    case .tooLarge, .optedOut, .refusedByObserver, .wrongRange, .partUnavailable, .unknownEncoding: self = .responded
    default: self = .inconclusive
    }
  }
}
