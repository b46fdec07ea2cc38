import Foundation

/// A response with optional faults. The modifiers combine:
/// `.ok(bytes).announcing(9000).dripping(bytes: 100, every: .milliseconds(5)).reset(after: 400)`.
public struct OriginResponse: Sendable {
  /// How the length of the body is indicated.
  enum Length: Sendable {
    /// `Content-Length`, correct or not.
    case announced(Int?)
    /// `Transfer-Encoding: chunked`.
    case chunked
    /// Not at all: the body ends when the connection closes.
    case untold
  }

  /// What follows the last byte to be sent.
  enum Ending: Sendable {
    /// The connection stays open for the next request.
    case keepAlive
    /// The connection is closed normally, whatever length was announced.
    case close
    /// The connection is reset.
    case reset
    /// Nothing until the gate opens, then the rest is sent. Without a gate: until the client closes.
    case stall(Gate?)
  }

  var status: Int
  var headers: [(name: String, value: String)]
  var body: [UInt8]
  /// Raw lines added to the head.
  var lines: [[UInt8]] = []
  var length = Length.announced(nil)
  var ending = Ending.keepAlive
  var endsAfter: Int?
  var gate: Gate?
  var piece: (bytes: Int, pause: Duration)?

  /// A response with any status.
  public init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// 200 with a body.
  public static func ok(_ body: some Sequence<UInt8>, type: String = "application/octet-stream") -> Self {
    .init(status: 200, headers: [("Content-Type", type)], body: Array(body))
  }

  /// 200 with JSON, given as text.
  public static func json(_ text: String) -> Self { .ok(text.utf8, type: "application/json") }

  /// A status with a short text as the body.
  public static func status(_ status: Int, _ text: String = "") -> Self {
    .init(status: status, headers: [("Content-Type", "text/plain")], body: Array(text.utf8))
  }

  /// A redirect, 302 by default, to a URL or path.
  public static func redirect(to location: String, status: Int = 302) -> Self {
    .init(status: status, headers: [("Location", location)], body: Array("moved".utf8))
  }

  /// 429; `retryAfter` is sent verbatim: seconds or an HTTP date.
  public static func tooManyRequests(retryAfter: String? = nil) -> Self {
    .init(status: 429, headers: retryAfter.map { [("Retry-After", $0)] } ?? [], body: Array("slow down".utf8))
  }

  /// Adds a header field.
  public func header(_ name: String, _ value: String) -> Self { changed { $0.headers.append((name, value)) } }
  /// Holds back the first byte of the response until the gate opens.
  public func held(by gate: Gate) -> Self { changed { $0.gate = gate } }
  /// Sends this `Content-Length` whatever the body's length. If it is smaller, surplus bytes follow; if it is larger,
  /// the connection closes early.
  public func announcing(_ length: Int) -> Self {
    changed {
      $0.length = .announced(length)
      if length != $0.body.count, case .keepAlive = $0.ending { $0.ending = .close }
    }
  }
  /// Uses chunked encoding, so that the length is not known in advance.
  public func chunked() -> Self { changed { $0.length = .chunked } }
  /// Adds a raw line to the head, which need not be a valid field.
  public func line(_ bytes: some Sequence<UInt8>) -> Self { changed { $0.lines.append(Array(bytes)) } }
  /// Sends no length; the body ends with the connection.
  public func untilClose() -> Self {
    changed {
      $0.length = .untold
      if case .keepAlive = $0.ending { $0.ending = .close }
    }
  }
  /// Closes the connection after this many bytes of the body.
  public func truncated(after count: Int) -> Self { ending(.close, after: count) }
  /// Resets the connection after this many bytes of the body.
  public func reset(after count: Int) -> Self { ending(.reset, after: count) }
  /// Stalls after this many bytes of the body until the gate opens; without one, forever.
  public func stalling(after count: Int, until gate: Gate? = nil) -> Self { ending(.stall(gate), after: count) }
  /// Sends the body in pieces of this many bytes with a pause after each.
  public func dripping(bytes: Int, every pause: Duration) -> Self { changed { $0.piece = (max(1, bytes), pause) } }

  private func ending(_ ending: Ending, after count: Int) -> Self {
    changed {
      $0.ending = ending
      $0.endsAfter = count
    }
  }

  private func changed(_ change: (inout Self) -> Void) -> Self {
    var copy = self
    change(&copy)
    return copy
  }

  /// The encoded head.
  var head: [UInt8] {
    var text = "HTTP/1.1 \(status) \(HTTPStatusText.of(status))\r\n"
    for (name, value) in headers { text += "\(name): \(value)\r\n" }
    switch length {
    case .announced(let count) where status != 204 && status != 304:
      text += "Content-Length: \(count ?? body.count)\r\n"
    case .chunked: text += "Transfer-Encoding: chunked\r\n"
    case .announced, .untold: break
    }
    if case .close = ending { text += "Connection: close\r\n" }
    return Array(text.utf8) + lines.flatMap { $0 + Array("\r\n".utf8) } + Array("\r\n".utf8)
  }
}

/// The reason phrases, which clients ignore.
enum HTTPStatusText {
  static func of(_ status: Int) -> String {
    switch status {
    case 200: "OK"
    case 404: "Not Found"
    case 429: "Too Many Requests"
    default: "Status \(status)"
    }
  }
}
