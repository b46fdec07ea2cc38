import Glibc

/// Splits input into lines, or into names that end with zero bytes, as it arrives. A pure value; lines are bytes: the
/// caller checks that they are UTF-8.
///
/// Only the number of a line beyond the limit is kept.
package struct LineSplitter {
  /// A line of the input.
  package enum Line: Equatable, Sendable {
    /// A line without its terminator, which may be empty, and its number, from 1.
    case text([UInt8], number: Int)
    /// A line that is longer than the limit.
    case overlong(number: Int)
  }

  /// The end of a line.
  package enum Terminator: UInt8 {
    /// A line feed, with or without a carriage return before it. A byte order mark at the start of the input is skipped.
    case lineFeed = 0x0a
    /// A zero byte, as `find -print0` writes it. Everything else is part of the line.
    case zero = 0
  }

  /// UTF-8's byte order mark, which some editors and engines write.
  private static let mark: [UInt8] = [0xef, 0xbb, 0xbf]

  private let terminator: Terminator
  /// The longest line, in bytes.
  private let limit: Int
  private var rest: [UInt8] = []
  private var isOverlong = false
  private var number = 0

  package init(limit: Int, terminator: Terminator = .lineFeed) { (self.limit, self.terminator) = (limit, terminator) }

  /// Adds the next bytes of the input, and calls `body` with each line that they complete.
  package mutating func take(_ bytes: UnsafeBufferPointer<UInt8>, _ body: (Line) -> Void) {
    var rest = UnsafeBufferPointer(rebasing: bytes[...])
    while let end = rest.firstIndex(ofByte: terminator.rawValue) {
      keep(UnsafeBufferPointer(rebasing: rest[..<end]))
      body(finishLine())
      rest = UnsafeBufferPointer(rebasing: rest[(end + 1)...])
    }
    keep(rest)
  }

  /// The last line of the input, if it had no terminator. Nil if there is none.
  package mutating func finish() -> Line? { rest.isEmpty && !isOverlong ? nil : finishLine() }

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
    if terminator == .lineFeed, rest.last == UInt8(ascii: "\r") { rest.removeLast() }
    if isOverlong || rest.count > limit { return .overlong(number: number) }
    if terminator == .lineFeed, number == 1, rest.starts(with: Self.mark) { rest.removeFirst(Self.mark.count) }
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
