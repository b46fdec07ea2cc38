import Foundation
package import ThumbnailCore

/// The client of the photo search APIs, on the same thread, connections and limits as image downloads.
///
/// Every response is returned with its body. Failed connections and 5xx are retried as for images; 429, a 503 with
/// `Retry-After`, and other 4xx are not, because the photo source knows what they mean. It does not wait while its host
/// is held.
package struct CurlHTTPClient: LedgerSharing {
  /// Performs the requests.
  let downloader: Downloader

  package init(downloader: Downloader) {
    self.downloader = downloader
  }

  /// The ledger that image downloads use as well.
  package var ledger: (any HostLedger)? { downloader.configuration.ledger }

  package func get(_ request: HTTPRequest) async throws(HTTPClientError) -> HTTPResponse {
    do throws(DownloadError) {
      let response = try await downloader.download(
        DownloadRequest(url: request.url, headers: request.headers, byteLimit: request.byteLimit, purpose: .api),
        priority: PriorityControl(.visible))
      guard case .memory(let bytes) = response.body else {
        throw DownloadError.tooLarge(limit: request.byteLimit, announced: nil)
      }
      return HTTPResponse(
        status: response.status, headers: response.headers, body: Data(bytes), retryAfter: response.head.retryAfter())
    } catch {
      throw HTTPClientError(error)
    }
  }
}

extension HTTPClientError {
  /// Maps a download error.
  init(_ error: DownloadError) {
    switch error {
    case .cancelled: self = .cancelled
    case .unreachable(let reason), .noResponse(let reason), .unresolved(_, let reason), .untrusted(let reason),
      .unusableCertificate(let reason), .unusableAuthorities(let reason), .noResources(let reason):
      self = .unreachable(reason: reason)
    case .unknownHost(let host): self = .unreachable(reason: "no address is known for \(host)")
    case .timedOut(let deadline): self = .unreachable(reason: deadline.rawValue)
    case .hostPaused(_, let retryAfter): self = .paused(retryAfter)
    case .hostClosed(let host, let reason, let retryAfter):
      self = .unreachable(
        reason: "\(host) failed several times in a row and is not requested for \(retryAfter.inWords): \(reason)")
    case .tooLarge(let limit, _): self = .invalidResponse(reason: "the response is longer than \(limit) bytes")
    case .brokenOff: self = .unreachable(reason: "the connection ended before the response did")
    case .wrongRange, .partUnavailable:
      self = .invalidResponse(reason: "the server sent another part of the response than requested")
    case .tooManyRedirects(let limit): self = .invalidResponse(reason: "more than \(limit) redirects")
    case .redirectToUnsupportedScheme(let scheme): self = .invalidResponse(reason: "a redirect to \(scheme):")
    case .invalidResponse(let reason), .unknownEncoding(let reason): self = .invalidResponse(reason: reason)
    case .invalidURL: self = .unreachable(reason: "the URL cannot be parsed")
    case .unsupportedScheme(let scheme): self = .unreachable(reason: "\(scheme): is not http or https")
    case .invalidHeader(let name): self = .unreachable(reason: "the header field \(name) cannot be sent")
    case .addressRefused(let host): self = .addressRefused(reason: DownloadError.addressRefusal(host))
    case .httpStatus, .fileNotAllowed, .fileNotFound, .fileUnreadable, .optedOut, .refusedByObserver, .cannotStoreBody:
      self = .unreachable(reason: "\(error)")
    }
  }
}
