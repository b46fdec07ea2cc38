import Glibc

/// Reads the lines of a file, pipe or terminal. Blocks; for use on a thread of its own.
///
/// Holds the lines of 64 KiB of input, and at most `longestLine` bytes of the unfinished line.
package struct LineReader {
  /// The result of a read.
  package enum Event {
    case line(LineSplitter.Line)
    /// What came is a part of a line.
    case part
    /// The timeout has passed without input.
    case idle
    /// The end of the input.
    case end
    /// Reading failed.
    case failure(SystemFailure)
  }

  /// The longest line of a list, in bytes.
  package static let longestLine = 64 << 10
  private static let pieceSize = 64 << 10

  private let file: FileDescriptor
  private var splitter: LineSplitter
  /// The lines that were read and not returned yet, but for the first `returned` of them.
  private var lines: [LineSplitter.Line] = []
  private var returned = 0
  private var isAtEnd = false

  /// Reads from an open file.
  package init(
    _ file: FileDescriptor, longestLine: Int = longestLine, terminator: LineSplitter.Terminator = .lineFeed
  ) {
    (self.file, splitter) = (file, LineSplitter(limit: longestLine, terminator: terminator))
  }

  /// Waits for the next line, for at most `patience` milliseconds.
  package mutating func next(patience: Int32) -> Event {
    if returned == lines.count, !isAtEnd, let failure = readPiece(patience: patience) { return failure }
    guard returned < lines.count else { return isAtEnd ? .end : .part }
    returned += 1
    return .line(lines[returned - 1])
  }

  /// The other lines that came with the last one.
  package mutating func takeRead() -> ArraySlice<LineSplitter.Line> {
    defer { returned = lines.count }
    return lines[returned...]
  }

  /// Reads the available bytes. Nil if that succeeds or the input has ended.
  private mutating func readPiece(patience: Int32) -> Event? {
    // poll() ignores negative descriptors and would wait forever.
    guard file.rawValue >= 0 else { return .failure(SystemFailure(code: EBADF)) }
    // poll() first, since a thread blocked in read() cannot be cancelled. Also waits for a writer to open a named pipe.
    var state = pollfd(fd: file.rawValue, events: Int16(POLLIN), revents: 0)
    let ready = poll(&state, 1, patience)
    if ready == 0 || ready < 0 && errno == EINTR { return .idle }
    if ready < 0 { return .failure(.last) }
    if state.revents & Int16(POLLNVAL) != 0 { return .failure(SystemFailure(code: EBADF)) }
    (lines, returned) = ([], 0)
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.pieceSize) { piece in
      let count = read(file.rawValue, piece.baseAddress, piece.count)
      if count < 0 { return errno == EAGAIN || errno == EINTR ? .idle : .failure(.last) }
      isAtEnd = count == 0
      splitter.take(UnsafeBufferPointer(rebasing: piece[..<count])) { lines.append($0) }
      if isAtEnd, let last = splitter.finish() { lines.append(last) }
      return nil
    }
  }
}
