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
  /// What may wait for the reader of the log; further lines are left out, and counted.
  private static let mostBytes = 1 << 20

  /// What is written of a target, in bytes.
  private static let longestTarget = 1000

  private struct State {
    var buffer: [UInt8] = []
    var leftOut = 0
  }

  private let format: Format
  private let descriptor: Int32
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "thumbnailer.access-log", qos: .utility)

  /// A log of that format.
  ///
  /// - Parameter descriptor: Where it is written. Default: standard error.
  package init(_ format: Format, to descriptor: Int32 = STDERR_FILENO) {
    (self.format, self.descriptor) = (format, descriptor)
  }

  func record(_ exchange: ServerExchange) {
    let line = format == .text ? Self.text(exchange) : Self.json(exchange)
    let isFirst = state.withLock { state in
      guard state.buffer.count < Self.mostBytes else {
        state.leftOut += 1
        return false
      }
      defer {
        state.buffer.append(contentsOf: line.utf8)
        state.buffer.append(UInt8(ascii: "\n"))
      }
      return state.buffer.isEmpty
    }
    if isFirst { queue.asyncAfter(deadline: .now() + Self.delay) { [self] in flush() } }
  }

  /// Writes what is left.
  func flush() {
    let waiting = state.withLock { state in
      defer { state = State() }
      return state
    }
    var lines = waiting.buffer
    if waiting.leftOut > 0 {
      lines += Array("thumbs: \(waiting.leftOut) lines of the access log were left out; nobody has read it\n".utf8)
    }
    var rest = lines[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      // Nobody reads the log any more, which is no reason to end.
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  private static func milliseconds(_ exchange: ServerExchange) -> String {
    let tenths = exchange.duration.nanoseconds / 100_000
    return "\(tenths / 10).\(tenths % 10)"
  }

  /// Signatures and keys do not belong into a log, however they are spelled.
  private static func target(_ exchange: ServerExchange) -> String {
    let target = exchange.target
    let path = target.prefix { $0 != "?" }
    var shown = String(path)
    let parts = path.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: true)
    if parts.count > 2, parts[0] == "imgproxy" { shown = "/imgproxy/***/\(parts[2])" }
    guard path.endIndex < target.endIndex else { return shown }
    let fields = target[target.index(after: path.endIndex)...].split(separator: "&").map { field in
      let name = field.prefix { $0 != "=" }
      return ["signature", "key"].contains(name.removingPercentEncoding ?? "") ? "\(name)=***" : String(field)
    }
    return shown + "?" + fields.joined(separator: "&")
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
    if text.utf8.count <= longestTarget, text.utf8.allSatisfy(isPlain) { return text }
    let plain = text.utf8.prefix(longestTarget).map { isPlain($0) ? $0 : UInt8(ascii: "?") }
    return String(decoding: plain, as: UTF8.self) + (text.utf8.count > longestTarget ? "..." : "")
  }
}
