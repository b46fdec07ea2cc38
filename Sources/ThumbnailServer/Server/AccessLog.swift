import Foundation
import HTTPServer
import Synchronization

/// A line for each response, on standard error. Lines are gathered and written together, off the event loop.
package final class AccessLog: Sendable {
  /// How lines look.
  package enum Format: String, Sendable, CaseIterable {
    /// As the common log format has it, with the milliseconds at the end.
    case text
    /// A JSON object a line.
    case json
  }

  private static let delay = DispatchTimeInterval.milliseconds(100)

  private let format: Format
  private let buffer = Mutex<[UInt8]>([])
  private let queue = DispatchQueue(label: "thumbnailer.access-log", qos: .utility)

  /// A log of that format.
  package init(_ format: Format) { self.format = format }

  func record(_ exchange: ServerExchange) {
    let line = format == .text ? Self.text(exchange) : Self.json(exchange)
    let isFirst = buffer.withLock { buffer in
      defer {
        buffer.append(contentsOf: line.utf8)
        buffer.append(UInt8(ascii: "\n"))
      }
      return buffer.isEmpty
    }
    if isFirst { queue.asyncAfter(deadline: .now() + Self.delay) { [self] in flush() } }
  }

  /// Writes what is left.
  func flush() {
    let lines = buffer.withLock { buffer in
      defer { buffer = [] }
      return buffer
    }
    var rest = lines[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
      // Nobody reads the log any more, which is no reason to end.
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  private static func milliseconds(_ exchange: ServerExchange) -> String {
    let tenths = exchange.duration.nanoseconds / 100_000
    return "\(tenths / 10).\(tenths % 10)"
  }

  /// Signatures and keys do not belong into a log.
  private static func target(_ exchange: ServerExchange) -> String {
    let secrets = ["signature=", "key="]
    guard let query = exchange.target.firstIndex(of: "?") else { return exchange.target }
    let fields = exchange.target[exchange.target.index(after: query)...].split(separator: "&").map { field in
      secrets.first { field.hasPrefix($0) }.map { "\($0)…" } ?? String(field)
    }
    return exchange.target[..<query] + "?" + fields.joined(separator: "&")
  }

  private static func text(_ exchange: ServerExchange) -> String {
    var line = exchange.client + " \"" + (exchange.method?.rawValue ?? "-") + " "
    line += escaped(target(exchange)) + "\" "
    line += (exchange.status.map { "\($0.code)" } ?? "499") + " \(exchange.byteCount) \(milliseconds(exchange))ms"
    return line
  }

  private static func json(_ exchange: ServerExchange) -> String {
    var line = "{\"client\":\"\(exchange.client)\",\"method\":\"\(exchange.method?.rawValue ?? "-")\","
    line += "\"target\":\"\(escaped(target(exchange)))\",\"status\":\(exchange.status?.code ?? 499),"
    line += "\"bytes\":\(exchange.byteCount),\"ms\":\(milliseconds(exchange))}"
    return line
  }

  /// A client's text without quotation marks, backslashes and control characters: no line of it can look like two.
  private static func escaped(_ text: String) -> String {
    func isPlain(_ byte: UInt8) -> Bool {
      byte > 0x1f && byte < 0x7f && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }
    if text.utf8.allSatisfy(isPlain) { return text }
    return String(decoding: text.utf8.map { isPlain($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
  }
}
