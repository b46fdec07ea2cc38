import Foundation

/// A request as the origin read it.
public struct OriginRequest: Sendable {
  /// Counts the requests of this origin, from 1.
  public let number: Int
  /// Counts the connections of this origin, from 1: requests of one number came over one connection.
  public let connection: Int
  /// `GET`, `HEAD` ….
  public let method: String
  /// Path and query exactly as they were sent.
  public let target: String
  /// The header fields in the order they came.
  public let headers: [(name: String, value: String)]
  /// When the header was complete.
  public let arrival: ContinuousClock.Instant

  /// The path, percent-decoded, without the query.
  public var path: String {
    let raw = target.prefix { $0 != "?" }
    return raw.removingPercentEncoding ?? String(raw)
  }

  /// The query's names and values, decoded; of a name that comes twice, the last value.
  public var query: [String: String] {
    guard let items = URLComponents(string: target)?.queryItems else { return [:] }
    return Dictionary(
      items.map { ($0.name, ($0.value ?? "").replacing("+", with: " ")) }, uniquingKeysWith: { $1 })
  }

  /// The value of the first field of that name, whatever its case.
  public func value(of name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }
}

/// What became of a request: one line of the origin's log.
public struct OriginRecord: Sendable {
  /// How far the answer got.
  public enum Outcome: Sendable, Equatable {
    /// It is being written, delayed, stalled or held by a gate.
    case running
    /// The origin wrote all it meant to, be it less than it announced.
    case served
    /// The client closed the connection before that.
    case clientClosed
  }

  /// The request.
  public let request: OriginRequest
  /// Bytes of the body handed to the kernel so far, without chunk framing. Up to some 100 kB of them may not have
  /// reached the client.
  public internal(set) var bodyBytesSent = 0
  /// How far the answer got.
  public internal(set) var outcome = Outcome.running
  /// When the answer ended, by whichever side.
  public internal(set) var end: ContinuousClock.Instant?

  /// Path and query exactly as they were sent.
  public var target: String { request.target }
  /// The path, percent-decoded, without the query.
  public var path: String { request.path }
}
