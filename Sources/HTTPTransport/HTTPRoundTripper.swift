public import Foundation
public import HTTPSemantics

/// Sends single HTTP requests in place of libcurl, so that a program can bring a client of its own
/// (`ThumbnailPipeline.Configuration.roundTripper`). Named after Go's interface for the same purpose.
///
/// All that is around a single request stays with the pipeline: slots and pauses of hosts, retries and back-off,
/// redirects and which host may see which header fields, conditional requests, resumed bodies, deadlines and limits.
/// The settings of libcurl do not apply: proxy, certificates, reuse of connections. Nor are slots lent while a server
/// is silent; a silent request ends at its deadline.
public protocol HTTPRoundTripper: Sendable {
  /// Sends a GET and returns the response once its head has arrived.
  ///
  /// Sends exactly these header fields besides `Host` and what the connection needs, and the body as it came: follows
  /// no redirects, adds no cookies or credentials, retries nothing. What it decompresses it returns without
  /// `Content-Encoding` and `Content-Length`. Calls are concurrent. The calling task is cancelled when the rest of the
  /// response is not needed, or a deadline has passed; the method must then return soon.
  ///
  /// - Throws: `HTTPClientError` when there is no response; any other error counts as `unreachable`.
  func roundTrip(_ request: HTTPRequest) async throws -> HTTPStreamedResponse
}

/// A response whose body may still be on its way.
public struct HTTPStreamedResponse: Sendable {
  /// The HTTP status.
  public let status: Int
  /// The header fields in the order received.
  public let headers: [HTTPHeader]
  /// Calls `body` with the bytes in order, in pieces of any length, until it returns false or the body ends.
  let receive: @Sendable (_ body: (Data) -> Bool) async throws -> Void

  /// A response whose body is at hand.
  public init(status: Int, headers: [HTTPHeader] = [], body: Data = Data()) {
    (self.status, self.headers) = (status, headers)
    receive = { receive in _ = body.isEmpty || receive(body) }
  }

  /// A response whose body comes in pieces of any length. No more of them are requested once enough has come.
  public init<Pieces: AsyncSequence & Sendable>(status: Int, headers: [HTTPHeader] = [], pieces: Pieces)
  where Pieces.Element == Data {
    (self.status, self.headers) = (status, headers)
    receive = { body in
      for try await piece in pieces {
        guard body(piece) else { return }
      }
    }
  }
}
