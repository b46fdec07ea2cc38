import Foundation
import HTTPServer

/// A line for each response, on standard error.
package final class AccessLog: Sendable {
  /// How lines look.
  package enum Format: String, Sendable, CaseIterable {
    /// As the common log format has it, with the milliseconds at the end.
    case text
    /// A JSON object a line.
    case json
  }

  private let format: Format
  private let lines: LineWriter

  /// A log of that format.
  ///
  /// - Parameter descriptor: Where it is written. Default: standard error.
  package init(_ format: Format, to descriptor: Int32 = STDERR_FILENO) {
    self.format = format
    lines = LineWriter(to: descriptor) { "thumbs: \($0) lines of the access log were left out; nobody has read it" }
  }

  func record(_ exchange: ServerExchange) {
    var line = AccessLine()
    switch format {
    case .text: line.addText(exchange)
    case .json: line.addJSON(exchange)
    }
    lines.append(line.bytes)
  }

  /// Writes what is left.
  func flush() { lines.flush() }
}

/// A line of the log. Made of bytes, since each response has one.
private struct AccessLine {
  /// What is written of a target, in bytes.
  private static let longestTarget = 1000
  private static let usualLength = 256
  /// Written where the client left before there was a response.
  private static let clientLeft: UInt = 499

  private(set) var bytes: [UInt8] = []
  /// What the target may still take.
  private var room = AccessLine.longestTarget

  init() { bytes.reserveCapacity(Self.usualLength) }

  mutating func addText(_ exchange: ServerExchange) {
    add(exchange.client)
    add(" \"")
    add(exchange.method?.rawValue ?? "-")
    add(" ")
    addTarget(exchange.target)
    add("\" ")
    add(exchange.status?.code ?? Self.clientLeft)
    add(" ")
    add(exchange.byteCount)
    add(" ")
    addMilliseconds(exchange)
    add("ms\n")
  }

  mutating func addJSON(_ exchange: ServerExchange) {
    add("{\"client\":\"")
    add(exchange.client)
    add("\",\"method\":\"")
    add(exchange.method?.rawValue ?? "-")
    add("\",\"target\":\"")
    addTarget(exchange.target)
    add("\",\"status\":")
    add(exchange.status?.code ?? Self.clientLeft)
    add(",\"bytes\":")
    add(exchange.byteCount)
    add(",\"ms\":")
    addMilliseconds(exchange)
    add("}\n")
  }

  private mutating func add(_ text: String) { bytes.append(contentsOf: text.utf8) }

  private mutating func add(_ number: some BinaryInteger) { add(String(number)) }

  private mutating func addMilliseconds(_ exchange: ServerExchange) {
    let tenths = exchange.duration.nanoseconds / 100_000
    add(tenths / 10)
    add(".")
    add(tenths % 10)
  }

  private mutating func addTarget(_ target: String) {
    for byte in LoggedTarget.text(of: target).utf8 { addPlain(byte) }
    if room < 0 { add("...") }
  }

  /// A client's text without quotation marks, backslashes and control characters: no line of it can look like two.
  private mutating func addPlain(_ byte: UInt8) {
    room -= 1
    guard room >= 0 else { return }
    let isPlain = byte > 0x1f && byte < 0x7f && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    bytes.append(isPlain ? byte : UInt8(ascii: "?"))
  }
}
