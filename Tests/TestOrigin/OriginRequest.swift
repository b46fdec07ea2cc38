import Foundation

/// A request received by the origin.
public struct OriginRequest: Sendable {
  /// The number of the request at this origin, from 1.
  public let number: Int
  /// The number of its connection at this origin, from 1.
  public let connection: Int
  /// `GET`, `HEAD` ….
  public let method: String
  /// Path and query exactly as sent.
  public let target: String
  /// The header fields in order.
  public let headers: [(name: String, value: String)]

  /// The path, percent-decoded, without the query.
  public var path: String {
    let raw = target.prefix { $0 != "?" }
    return raw.removingPercentEncoding ?? String(raw)
  }

  /// The query parameters, decoded; the last value of a repeated name.
  public var query: [String: String] {
    guard let items = URLComponents(string: target)?.queryItems else { return [:] }
    return Dictionary(items.map { ($0.name, ($0.value ?? "").replacing("+", with: " ")) }, uniquingKeysWith: { $1 })
  }

  /// The value of the first field with the name, ignoring case.
  public func value(of name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }
}

/// The log entry of a request.
public struct OriginRecord: Sendable {
  /// The progress of the response.
  public enum Outcome: Sendable, Equatable {
    /// It is being written, delayed, stalled or held by a gate.
    case running
    /// The origin has sent all it intended to, possibly less than announced.
    case served
    /// The client closed the connection early.
    case clientClosed
  }

  /// The request.
  public let request: OriginRequest
  /// The number of body bytes handed to the kernel so far, without chunk framing. Up to about 100 kB of them may not
  /// have reached the client.
  public internal(set) var bodyBytesSent = 0
  /// The progress of the response.
  public internal(set) var outcome = Outcome.running

  /// Path and query exactly as sent.
  public var target: String { request.target }
  /// The path, percent-decoded, without the query.
  public var path: String { request.path }
}
