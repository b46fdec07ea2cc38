public import Foundation
public import HTTPSemantics
package import ThumbnailCore

/// A simple HTTP client for responses that fit in memory, used for photo search APIs. Calls may be concurrent.
///
/// A pipeline's own is `ThumbnailPipeline.httpClient`; tests and programs may bring another.
public protocol HTTPClient: Sendable {
  /// Sends a GET and returns the response, error statuses included. The pipeline's client first retries connection
  /// errors and 5xx, as for images.
  ///
  /// - Throws: `HTTPClientError` when there was no response.
  func get(_ request: HTTPRequest) async throws(HTTPClientError) -> HTTPResponse
}

/// A client that shares the states of hosts and services with all processes that use the same cache.
package protocol LedgerSharing: HTTPClient {
  /// The shared states; nil without a cache.
  var ledger: (any HostLedger)? { get }
}

/// A GET request for a small response.
public struct HTTPRequest: Sendable {
  /// The URL; `http` or `https`.
  public var url: URL
  /// Extra header fields, sent to the URL's own host only, never after a redirect to another host.
  public var headers: [HTTPHeader]
  /// The maximum length of the response body, in bytes.
  public var byteLimit: Int

  /// A request, by default for a body of at most 8 MiB.
  public init(url: URL, headers: [HTTPHeader] = [], byteLimit: Int = 8 << 20) {
    self.url = url
    self.headers = headers
    self.byteLimit = byteLimit
  }
}

/// A complete response.
public struct HTTPResponse: Sendable {
  /// The HTTP status, such as 200 or 403.
  public var status: Int
  /// The header fields in the order received.
  public var headers: [HTTPHeader]
  /// The whole body.
  public var body: Data
  /// The pause that the server requests (`Retry-After`), if any.
  public var retryAfter: Duration?

  /// Makes a response.
  public init(status: Int, headers: [HTTPHeader] = [], body: Data, retryAfter: Duration? = nil) {
    self.status = status
    self.headers = headers
    self.body = body
    self.retryAfter = retryAfter
  }

  /// The value of the first field of that name, compared case-insensitively.
  package func value(of name: String) -> String? {
    headers.firstValue(of: name)
  }
}

/// Why there was no response.
public enum HTTPClientError: Error, Sendable {
  /// The task was cancelled.
  case cancelled
  /// The server cannot be reached: name resolution, connection or TLS failed, or a deadline passed. `reason` is
  /// libcurl's message.
  case unreachable(reason: String)
  /// No address of the host is allowed (`AddressPolicy`).
  case addressRefused(reason: String)
  /// No request was sent: the host asked for a pause with this much left.
  case paused(Duration)
  /// The response was truncated, too long, or not HTTP.
  case invalidResponse(reason: String)
}

/// The client for offline mode: every request fails.
package struct OfflineHTTPClient: HTTPClient {
  package init() {}

  package func get(_ request: HTTPRequest) async throws(HTTPClientError) -> HTTPResponse {
    throw .unreachable(reason: "no requests are sent offline (cacheMode)")
  }
}
