import Foundation

/// Splits input into lines as it arrives. A pure value; lines are bytes.
///
/// Only the number of a line beyond the limit is kept.
struct LineSplitter {
  /// A line of the input.
  enum Line: Equatable {
    /// A line without its line feed and a carriage return before it, and its number, from 1.
    case text([UInt8], number: Int)
    /// A line that is longer than the limit.
    case overlong(number: Int)
  }

  private static let lineFeed = UInt8(ascii: "\n")
  /// UTF-8's byte order mark, which some editors and engines write.
  private static let mark: [UInt8] = [0xef, 0xbb, 0xbf]

  /// The longest line, in bytes.
  let limit: Int
  private var rest: [UInt8] = []
  private var isOverlong = false
  private var number = 0

  init(limit: Int) { self.limit = limit }

  /// Adds the next bytes of the input, and calls `body` with each line that they complete.
  mutating func take(_ bytes: UnsafeBufferPointer<UInt8>, _ body: (Line) -> Void) {
    var rest = UnsafeBufferPointer(rebasing: bytes[...])
    while let end = rest.firstIndex(ofByte: Self.lineFeed) {
      keep(UnsafeBufferPointer(rebasing: rest[..<end]))
      body(finishLine())
      rest = UnsafeBufferPointer(rebasing: rest[(end + 1)...])
    }
    keep(rest)
  }

  /// The last line of the input, if it had no line feed. Nil if there is none.
  mutating func finish() -> Line? { rest.isEmpty && !isOverlong ? nil : finishLine() }

  private mutating func keep(_ bytes: UnsafeBufferPointer<UInt8>) {
    // One more than the limit, for the carriage return.
    if isOverlong || rest.count + bytes.count > limit + 1 {
      (isOverlong, rest) = (true, [])
    } else {
      rest.append(contentsOf: bytes)
    }
  }

  private mutating func finishLine() -> Line {
    number += 1
    defer { (rest, isOverlong) = ([], false) }
    if rest.last == UInt8(ascii: "\r") { rest.removeLast() }
    if isOverlong || rest.count > limit { return .overlong(number: number) }
    if number == 1, rest.starts(with: Self.mark) { rest.removeFirst(Self.mark.count) }
    return .text(rest, number: number)
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// The same as `firstIndex(of:)`, several times as fast.
  fileprivate func firstIndex(ofByte byte: UInt8) -> Int? {
    guard let start = UnsafeRawPointer(baseAddress), let found = memchr(start, Int32(byte), count) else { return nil }
    return UnsafeRawPointer(found) - start
  }
}
