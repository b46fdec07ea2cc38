import Foundation
import HTTPSemantics

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

  /// Takes the next line, with or without its line break. Interim responses (1xx) and the fields that follow a body are
  /// passed over. A line that begins with a blank continues the value of the field before it (RFC 9112, 5.2).
  mutating func take(_ bytes: UnsafeRawBufferPointer) -> Event {
    let bytes = bytes[..<((bytes.lastIndex { $0 != 10 && $0 != 13 } ?? -1) + 1)]
    let line = String(decoding: bytes, as: UTF8.self)
    let content = line.trimmingCharacters(in: .whitespacesAndNewlines)
    if line.isEmpty {
      return status >= 200 ? .complete : .more
    } else if line.hasPrefix(" ") || line.hasPrefix("\t") {
      // What continues no field, but the status line, means nothing (RFC 9112, 2.2).
      if isInField { continueField(with: content) }
      return .more
    }
    isInField = false
    if line.hasPrefix("HTTP/"), let code = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) {
      self = ResponseHead()
      status = code
    } else if let colon = content.firstIndex(of: ":") {
      headers.append(
        HTTPHeader(
          String(content[..<colon]), content[content.index(after: colon)...].trimmingCharacters(in: .whitespaces)))
      isInField = true
    }
    return .more
  }

  /// Whether the last line was a field or continued one.
  private var isInField = false

  private mutating func continueField(with text: String) {
    let last = headers.count - 1
    guard !text.isEmpty, headers.indices.contains(last) else { return }
    headers[last].value += headers[last].value.isEmpty ? text : " \(text)"
  }

  /// The announced length of the body in bytes, where it tells how many bytes will come.
  var contentLength: Int? {
    guard headers.firstValue(of: "Transfer-Encoding") == nil else { return nil }
    return try? Self.length(in: announcedLengths)
  }

  /// What is wrong with the announced length, in words: values that differ, or one that is no number (RFC 9112, 6.3).
  /// Nil when nothing is, or when it does not count.
  var lengthProblem: String? {
    guard headers.firstValue(of: "Transfer-Encoding") == nil else { return nil }
    do {
      _ = try Self.length(in: announcedLengths)
      return nil
    } catch {
      return error.reason
    }
  }

  /// A length that cannot be believed.
  private struct BadLength: Error {
    let reason: String
  }

  /// The values of all `Content-Length` fields. A list of equal values counts as one of them.
  private var announcedLengths: [String] {
    headers.filter { $0.name.caseInsensitiveCompare("Content-Length") == .orderedSame }.flatMap { header in
      header.value.split(separator: ",", omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }

  private static func length(in values: [String]) throws(BadLength) -> Int? {
    var length: Int?
    for value in values {
      guard !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
        throw BadLength(reason: "its Content-Length is no number")
      }
      // Digits alone can only be too many.
      let number = Int(value) ?? .max
      guard length ?? number == number else { throw BadLength(reason: "it has two Content-Lengths that differ") }
      length = number
    }
    return length
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
