/// What the end of a transfer says about its host.
enum TransferOutcome: Sendable, Equatable {
  /// The host works.
  case responded
  /// The image failed by the host's fault, or its own.
  case failed(reason: String)
  /// There was no connection, or nothing has come for long: never a sign that the host responds.
  case unreachable(reason: String)
  /// The server asks for a pause, of this duration if it gave one.
  case pause(Duration?)
  /// It says nothing about the host.
  case inconclusive
}

extension TransferOutcome {
  /// The outcome of a transfer's result. A connection that breaks off after much data says nothing: the next attempt
  /// goes on from there. What an API means by 429 is left to its client, which keeps the service's pace.
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
    // The host works: it has sent something that we did not want.
    case .tooLarge, .refusedByObserver, .wrongRange, .partUnavailable, .unknownEncoding: self = .responded
    default: self = .inconclusive
    }
  }
}
