import Glibc

/// Splits the input from a file, pipe or terminal into lines, or into names that end with zero bytes. Blocks; for use
/// on a thread of its own.
///
/// Buffers 64 KiB of input and at most `longestLine` bytes of the unfinished line. Lines are bytes: the caller checks
/// that they are UTF-8.
package struct LineReader {
  /// The result of a read.
  package enum Event {
    /// A line without its terminator, which may be empty, and its number, from 1.
    case line([UInt8], number: Int)
    /// A line that exceeds `longestLine`.
    case overlong(number: Int)
    /// The timeout has passed without input.
    case idle
    /// The end of the input.
    case end
    /// Reading failed.
    case failure(SystemFailure)
  }

  /// The end of a line.
  package enum Terminator {
    /// A line feed, with or without a carriage return before it. A byte order mark at the start of the input is skipped.
    case lineFeed
    /// A zero byte, as `find -print0` writes it. Everything else is part of the line.
    case zero
  }

  /// The longest line, in bytes.
  package static let longestLine = 64 << 10
  private static let pieceSize = 64 << 10

  private let terminator: Terminator
  private let file: FileDescriptor
  private var piece: [UInt8] = []
  private var position = 0
  private var line: [UInt8] = []
  private var isOverlong = false
  private var number = 0
  private var isAtStart = true
  private var isAtEnd = false

  /// Reads from an open file.
  package init(_ file: FileDescriptor, terminator: Terminator = .lineFeed) {
    (self.file, self.terminator) = (file, terminator)
  }

  /// Waits for the next line; each wait for input lasts at most `patience` milliseconds.
  package mutating func next(patience: Int32) -> Event {
    while true {
      if let event = lineFromPiece() { return event }
      if isAtEnd { return lastLine() }
      if let event = readPiece(patience: patience) { return event }
    }
  }

  /// A line that ends within the buffer. Nil if none does: the rest of the buffer is then kept as the start of a line.
  private mutating func lineFromPiece() -> Event? {
    guard position < piece.count else { return nil }
    let rest = piece[position...]
    guard let end = rest.firstIndex(of: terminator == .zero ? 0 : UInt8(ascii: "\n")) else {
      keep(rest)
      position = piece.count
      return nil
    }
    keep(rest[..<end])
    position = end + 1
    return finishLine()
  }

  private mutating func keep(_ bytes: ArraySlice<UInt8>) {
    if isOverlong || line.count + bytes.count > Self.longestLine {
      isOverlong = true
      line = []
    } else {
      line.append(contentsOf: bytes)
    }
  }

  private mutating func finishLine() -> Event {
    number += 1
    defer {
      line.removeAll(keepingCapacity: true)
      isOverlong = false
    }
    if isOverlong { return .overlong(number: number) }
    if terminator == .lineFeed, line.last == UInt8(ascii: "\r") { line.removeLast() }
    return .line(line, number: number)
  }

  private mutating func lastLine() -> Event {
    line.isEmpty && !isOverlong ? .end : finishLine()
  }

  /// Fills the buffer. Nil if that succeeds or the input has ended.
  private mutating func readPiece(patience: Int32) -> Event? {
    // poll() ignores negative descriptors and would wait forever.
    guard file.rawValue >= 0 else { return .failure(SystemFailure(code: EBADF)) }
    // poll() first, since a thread blocked in read() cannot be cancelled. Also waits for a writer to open a named pipe.
    var state = pollfd(fd: file.rawValue, events: Int16(POLLIN), revents: 0)
    let ready = poll(&state, 1, patience)
    if ready == 0 || ready < 0 && errno == EINTR { return .idle }
    if ready < 0 { return .failure(.last) }
    if state.revents & Int16(POLLNVAL) != 0 { return .failure(SystemFailure(code: EBADF)) }
    var code: Int32 = 0
    piece = [UInt8](unsafeUninitializedCapacity: Self.pieceSize) { buffer, filled in
      let got = read(file.rawValue, buffer.baseAddress, Self.pieceSize)
      if got < 0 { code = errno }
      filled = max(0, got)
    }
    position = 0
    if code == EAGAIN || code == EINTR { return .idle }
    if code != 0 { return .failure(SystemFailure(code: code)) }
    isAtEnd = piece.isEmpty
    if isAtStart, !isAtEnd {
      isAtStart = false
      // The byte order mark of some Windows editors.
      if terminator == .lineFeed, piece.starts(with: [0xef, 0xbb, 0xbf]) { position = 3 }
    }
    return nil
  }
}
