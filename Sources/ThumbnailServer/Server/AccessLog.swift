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

  /// The text before each value, and at the end of the line.
  private static let text = (["", " \"", " ", "\" ", " ", " "], "ms\n")
  private static let json = (
    [#"{"client":""#, #"","method":""#, #"","target":""#, #"","status":"#, #","bytes":"#, #","ms":"#], "}\n"
  )
  /// The longest part of a target that is written, in bytes.
  private static let longestTarget = 1000
  private static let usualLength = 256

  private let format: Format
  private let lines: LineWriter

  /// A log of that format.
  ///
  /// - Parameter descriptor: The file that it writes to. Default: standard error.
  package init(_ format: Format, to descriptor: Int32 = STDERR_FILENO) {
    self.format = format
    lines = LineWriter(to: descriptor) { "thumbs: \($0) lines of the access log were left out; nobody has read it" }
  }

  func record(_ exchange: ServerExchange) {
    let tenths = exchange.duration.nanoseconds / 100_000
    let values = [
      exchange.client, exchange.method?.rawValue ?? "-", Self.plain(LoggedTarget.text(of: exchange.target)),
      "\(exchange.code)", "\(exchange.byteCount)", "\(tenths / 10).\(tenths % 10)",
    ]
    let (between, end) = format == .text ? Self.text : Self.json
    var line: [UInt8] = []
    line.reserveCapacity(Self.usualLength)
    for (before, value) in zip(between, values) {
      line += before.utf8
      line += value.utf8
    }
    lines.append(line + end.utf8)
  }

  /// Writes the remaining lines.
  func flush() { lines.flush() }

  /// A client's text without quotation marks, backslashes and control characters, so that a line cannot look like two.
  private static func plain(_ text: String) -> String {
    let bytes = text.utf8.prefix(longestTarget).map { byte in
      let isPlain = byte > 0x1f && byte < 0x7f && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
      return isPlain ? byte : UInt8(ascii: "?")
    }
    return String(decoding: bytes, as: UTF8.self) + (text.utf8.count > longestTarget ? "..." : "")
  }
}

extension ServerExchange {
  /// The status of the response; 499 if the client left before.
  var code: UInt { status?.code ?? 499 }
}
