package import Foundation
package import NIOCore
package import NIOHTTP1

/// A server calls it for each request.
package protocol HTTPResponder: Sendable {
  /// The longest body, in bytes, that a request with this head may have. A longer one is refused with status 413.
  func bodyLimit(for head: HTTPRequestHead) -> Int

  /// The response, or what makes it. Called on the event loop: it must return within microseconds.
  func timedResponse(to request: ServerRequest) -> TimedResponse

  /// The response to a request that the server itself refuses: because it is malformed, too long or too slow, with 429
  /// because its client has used up its part of the memory, and with 503 because no memory is left. Less than 1 KiB.
  ///
  /// - Parameter head: The request's, if it could be read.
  func refusal(of status: HTTPResponseStatus, head: HTTPRequestHead?) -> ServerResponse

  /// Called after each response, on the event loop.
  func finished(_ exchange: ServerExchange)
}

/// A request, whole.
package struct ServerRequest: Sendable {
  /// The method.
  package let method: HTTPMethod
  /// The target as sent: path and query, still percent-encoded.
  package let target: String
  /// The header fields.
  package let headers: HTTPHeaders
  /// The body; empty if there is none.
  package let body: ByteBuffer
  /// The address of the client, without the port. That of a proxy, unless it is trusted to name its client.
  package let client: String
  /// Whether a trusted proxy says that it came by TLS.
  package let isSecure: Bool

  /// Makes a request.
  package init(
    _ method: HTTPMethod, _ target: String, headers: HTTPHeaders = [:], body: ByteBuffer = ByteBuffer(),
    client: String = "127.0.0.1", isSecure: Bool = false
  ) {
    (self.method, self.target, self.headers, self.body) = (method, target, headers, body)
    (self.client, self.isSecure) = (client, isSecure)
  }

  /// The path, still percent-encoded.
  package var path: Substring { Substring(target.utf8.prefix { $0 != Self.questionMark }) }

  /// The query, still percent-encoded and without its question mark; nil if there is none.
  package var query: Substring? {
    target.utf8.firstIndex(of: Self.questionMark).map { Substring(target.utf8[$0...].dropFirst()) }
  }

  // This compares bytes, because characters take ten times as long.
  private static let questionMark = UInt8(ascii: "?")
}

/// A response.
package struct ServerResponse: Sendable {
  /// The body after the head.
  package enum Body: Sendable {
    /// Bytes in memory; possibly none. The same bytes for many requests are in memory once.
    case bytes(Data)
    /// Parts as they arrive, until the stream ends. The server waits for a slow client, so a stream should buffer
    /// little.
    case stream(AsyncStream<ByteBuffer>)
    /// A range of an open file's bytes. The server closes the file.
    case file(NIOFileHandle, Range<Int>)
    /// Parts that a function sends, and their length together. If the function throws, the
    /// connection ends, so that the client sees that the rest is missing.
    case written(length: Int, by: Writer)
  }

  /// Sends a part of a body, and returns once the client has taken it.
  package typealias Send = @Sendable (ByteBuffer) async throws -> Void
  /// Sends a body part by part.
  package typealias Writer = @Sendable (@escaping Send) async throws -> Void

  /// The status.
  package var status: HTTPResponseStatus
  /// The header fields, without `Date`, `Content-Length` and `Connection`, which the server adds.
  package var headers: HTTPHeaders
  /// The body.
  package var body: Body

  /// Makes a response.
  package init(_ status: HTTPResponseStatus, headers: HTTPHeaders = [:], body: Body = .bytes(Data())) {
    (self.status, self.headers, self.body) = (status, headers, body)
  }
}

/// How a request is responded to.
package enum TimedResponse: Sendable {
  case now(ServerResponse)
  /// In a task, which is cancelled when the client closes the connection.
  case later(@Sendable () async -> ServerResponse)
}

/// A request and its result, for metrics.
package struct ServerExchange: Sendable {
  /// The target as sent; empty if no request could be read.
  package let target: String
  /// The status of the response; nil if the client left before.
  package let status: HTTPResponseStatus?
  /// The bytes of the response's body.
  package let byteCount: Int
  /// The time from the end of the request to the end of the response.
  package let duration: TimeAmount
}
