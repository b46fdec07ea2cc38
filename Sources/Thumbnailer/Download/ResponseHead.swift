import Foundation

/// The head of an answer, put together line by line as libcurl hands it over. A pure value.
struct ResponseHead: Sendable {
  /// What a line meant.
  enum Event: Equatable {
    /// There is more to come.
    case more
    /// The head of the final answer is complete.
    case complete
  }

  private(set) var status = 0
  private(set) var headers: [HTTPHeader] = []

  /// Takes the next line, with or without its line break. Interim answers (1xx) and the fields that follow a body are
  /// passed over.
  mutating func take(_ bytes: UnsafeRawBufferPointer) -> Event {
    let line = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    if line.hasPrefix("HTTP/"), let code = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) {
      self = ResponseHead()
      status = code
    } else if line.isEmpty {
      return status >= 200 ? .complete : .more
    } else if let colon = line.firstIndex(of: ":") {
      headers.append(
        HTTPHeader(
          String(line[..<colon]), line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)))
    }
    return .more
  }

  /// The announced length of the body in bytes, where it tells how many bytes will come.
  var contentLength: Int? {
    guard headers.firstValue(of: "Transfer-Encoding") == nil else { return nil }
    return headers.firstValue(of: "Content-Length").flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
  }

  /// Whether the body is compressed on its way.
  var isEncoded: Bool {
    headers.firstValue(of: "Content-Encoding").map { !$0.isEmpty && $0.lowercased() != "identity" } ?? false
  }

  /// Where to go instead, when the answer is a redirect.
  var redirectLocation: String? {
    [301, 302, 303, 307, 308].contains(status) ? headers.firstValue(of: "Location") : nil
  }

  /// How long the server wants us to stay away: seconds, or an HTTP date compared with `now`.
  func retryAfter(now: Date = Date()) -> Duration? {
    guard let text = headers.firstValue(of: "Retry-After") else { return nil }
    if let seconds = Int(text) { return .seconds(min(max(0, seconds), 1 << 31)) }
    guard let date = HTTPDate.parse(text, now: now) else { return nil }
    return .seconds(max(0, date.timeIntervalSince(now)))
  }
}
