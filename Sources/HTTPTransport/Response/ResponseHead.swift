import Foundation
package import HTTPSemantics

/// The head of a response, parsed line by line as libcurl delivers it. A pure value.
package struct ResponseHead: Sendable {
  package private(set) var status = 0
  package private(set) var headers: [HTTPHeader] = []

  /// Parses the next line, with or without its line break. Returns whether it completes the head of the final response.
  ///
  /// Interim responses (1xx) and trailers are skipped. A line that begins with white space continues the value of the
  /// previous field (RFC 9112, 5.2).
  mutating func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let bytes = bytes[..<((bytes.lastIndex { $0 != 10 && $0 != 13 } ?? -1) + 1)]
    // Bytes that are not UTF-8 are percent-encoded, so that those of a `Location` are sent as they came.
    let encoded = { bytes.flatMap { $0 < 0x80 ? [$0] : Array("%\(String($0, radix: 16, uppercase: true))".utf8) } }
    let line = String(validating: bytes, as: UTF8.self) ?? String(decoding: encoded(), as: UTF8.self)
    let content = line.trimmingSpaces()
    if line.isEmpty { return status >= 200 }
    if line.hasPrefix(" ") || line.hasPrefix("\t") {
      // A continuation of the status line is ignored (RFC 9112, 2.2).
      if isInField { continueField(with: content) }
      return false
    }
    isInField = false
    if line.hasPrefix("HTTP/"), let code = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) {
      self = ResponseHead()
      status = code
    } else if let colon = content.utf8.firstIndex(of: UInt8(ascii: ":")) {
      headers.append(
        HTTPHeader(
          String(content[..<colon]), content[content.utf8.index(after: colon)...].trimmingSpaces()))
      isInField = true
    }
    return false
  }

  /// Whether the last line was a field or continued one.
  private var isInField = false

  private mutating func continueField(with text: String) {
    let last = headers.count - 1
    guard !text.isEmpty, headers.indices.contains(last) else { return }
    headers[last].value += headers[last].value.isEmpty ? text : " \(text)"
  }

  /// The announced length of the body in bytes, if it is reliable.
  var contentLength: Int? { announcement.length }

  /// The problem with the announced length, as a message: values that differ, or an invalid number (RFC 9112, 6.3). Nil
  /// if it is valid or does not apply.
  var lengthProblem: String? { announcement.problem }

  private var announcement: (length: Int?, problem: String?) {
    guard headers.firstValue(of: "Transfer-Encoding") == nil else { return (nil, nil) }
    var length: Int?
    for header in headers where header.name.isSameField(as: "Content-Length") {
      // A field may hold a list of equal values.
      for value in header.value.split(separator: ",", omittingEmptySubsequences: false) {
        let value = value.trimmingSpaces()
        guard !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
          return (nil, "its Content-Length is no number")
        }
        // A value that consists of digits fails to parse only if it overflows.
        let number = Int(value) ?? .max
        guard length ?? number == number else { return (nil, "it has two Content-Lengths that differ") }
        length = number
      }
    }
    return (length, nil)
  }

  /// Whether the body has a content encoding (compression).
  var isEncoded: Bool {
    headers.firstValue(of: "Content-Encoding").map { !$0.isEmpty && $0.lowercased() != "identity" } ?? false
  }

  /// The target, if the response is a redirect.
  var redirectLocation: String? {
    [301, 302, 303, 307, 308].contains(status) ? headers.firstValue(of: "Location") : nil
  }

  /// The pause that the server requests: seconds, or an HTTP date compared with `now`.
  func retryAfter(now: Date = Date()) -> Duration? {
    guard let text = headers.firstValue(of: "Retry-After") else { return nil }
    if let seconds = Int(text) { return .seconds(min(max(0, seconds), 1 << 31)) }
    guard let date = HTTPDate.parse(text, now: now) else { return nil }
    return .seconds(max(0, date.timeIntervalSince(now)))
  }
}
