package import Foundation
package import HTTPSemantics
package import ThumbnailCore

/// A simple HTTP client for responses that fit in memory, used for photo search APIs.
package protocol HTTPClient: Sendable {
  /// Sends a GET and returns the response, error statuses included. Connection errors and 5xx are retried first, as for
  /// images.
  ///
  /// - Throws: `HTTPClientError` when there was no response.
  func get(_ request: HTTPRequest) async throws(HTTPClientError) -> HTTPResponse

  /// Host and service states shared by all processes with the same cache; nil if nothing is shared.
  var ledger: (any HostLedger)? { get }
}

extension HTTPClient {
  /// Nothing is shared.
  package var ledger: (any HostLedger)? { nil }
}

/// A GET request for a small response.
package struct HTTPRequest: Sendable {
  /// The URL; `http` or `https`.
  var url: URL
  /// Extra header fields, sent to the URL's own host only, never after a redirect to another host.
  var headers: [HTTPHeader] = []
  /// The maximum length of the response body, in bytes.
  var byteLimit = 8 << 20

  package init(url: URL, headers: [HTTPHeader] = [], byteLimit: Int = 8 << 20) {
    self.url = url
    self.headers = headers
    self.byteLimit = byteLimit
  }
}

/// A complete response.
package struct HTTPResponse: Sendable {
  /// The HTTP status, such as 200 or 403.
  package var status: Int
  /// The header fields in the order received.
  package var headers: [HTTPHeader]
  /// The whole body.
  package var body: Data
  /// The pause that the server requests (`Retry-After`), if any.
  package var retryAfter: Duration?

  /// The value of the first field of that name, compared case-insensitively.
  package func value(of name: String) -> String? {
    headers.firstValue(of: name)
  }
}

/// Why there was no response.
package enum HTTPClientError: Error, Sendable {
  /// The task was cancelled.
  case cancelled
  /// Name resolution, connection, TLS or deadline failed: the server cannot be reached. `reason` is curl's own message.
  case unreachable(reason: String)
  /// No request was sent: the host asked for a pause with this much left.
  case paused(Duration)
  /// The response was truncated, too long, or not HTTP.
  case invalidResponse(reason: String)
}

/// The client for offline mode: every request fails.
package struct OfflineHTTPClient: HTTPClient {
  package init() {}

  package func get(_ request: HTTPRequest) async throws(HTTPClientError) -> HTTPResponse {
    throw .unreachable(reason: "nobody is asked offline (cacheMode)")
  }
}
