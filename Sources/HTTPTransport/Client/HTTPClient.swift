package import Foundation
package import HTTPSemantics
package import ThumbnailCore

/// A small HTTP exchange whose answer fits in memory: what the photo search APIs need.
package protocol HTTPClient: Sendable {
  /// Sends a GET and returns whatever the server answered, error statuses included. Connection errors and 5xx are tried
  /// again first, as for pictures.
  ///
  /// - Throws: `HTTPClientError` when no answer was to be had.
  func get(_ request: HTTPRequest) async throws(HTTPClientError) -> HTTPResponse

  /// What is known of services by everybody who shares a cache; nil where each keeps its own books.
  var ledger: (any HostLedger)? { get }
}

extension HTTPClient {
  /// Nobody's.
  package var ledger: (any HostLedger)? { nil }
}

/// A GET request for a small answer.
package struct HTTPRequest: Sendable {
  /// Where to; `http` or `https`.
  package var url: URL
  /// Extra header fields. They are sent to the URL's own host only, never across a redirect to another.
  package var headers: [HTTPHeader] = []
  /// The answer may not be longer than this many bytes.
  var byteLimit = 8 << 20

  package init(url: URL, headers: [HTTPHeader] = [], byteLimit: Int = 8 << 20) {
    self.url = url
    self.headers = headers
    self.byteLimit = byteLimit
  }
}

/// A complete answer.
package struct HTTPResponse: Sendable {
  /// The HTTP status, such as 200 or 403.
  package var status: Int
  /// The header fields in the order they came.
  package var headers: [HTTPHeader]
  /// The whole body.
  package var body: Data
  /// How long the server asks to be left alone (`Retry-After`), where it says so.
  package var retryAfter: Duration?

  /// The value of the first field of that name, whatever its case.
  package func value(of name: String) -> String? {
    headers.firstValue(of: name)
  }
}

/// Why there was no answer.
package enum HTTPClientError: Error, Sendable {
  /// The task was cancelled.
  case cancelled
  /// Name resolution, connection, TLS or deadline: the server cannot be reached. `reason` is curl's own text.
  case unreachable(reason: String)
  /// Nobody was asked: the host wants to be left alone for so long.
  case paused(Duration)
  /// The answer broke off, was too long, or was not HTTP.
  case invalidResponse(reason: String)
}
