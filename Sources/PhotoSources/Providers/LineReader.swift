import Foundation
import ThumbnailCore

/// Cuts what comes from a file, a pipe or a terminal into lines. Blocks; for use on a thread of its own.
///
/// Holds one piece of 64 KiB and the unfinished line, never more than `longestLine` bytes of it.
struct LineReader {
  /// What came next.
  enum Event {
    /// A line without its end, and its number, from 1.
    case line([UInt8], number: Int)
    /// A line that was too long to be kept.
    case overlong(number: Int)
    /// Nothing came for a while.
    case idle
    /// There is nothing more.
    case end
    /// Reading failed with this number of an error.
    case failure(Int32)
  }

  /// The length in bytes that a line may have.
  static let longestLine = 64 << 10
  private static let pieceSize = 64 << 10

  private let file: FileDescriptor
  private var piece: [UInt8] = []
  private var position = 0
  private var line: [UInt8] = []
  private var isOverlong = false
  private var number = 0
  private var isAtStart = true
  private var isAtEnd = false

  /// Reads from an open file.
  init(_ file: FileDescriptor) { self.file = file }

  /// Waits for the next line, at most for the given number of milliseconds at a stretch.
  mutating func next(patience: Int32) -> Event {
    while true {
      if let event = lineFromPiece() { return event }
      if isAtEnd { return lastLine() }
      if let event = readPiece(patience: patience) { return event }
    }
  }

  /// A line whose end is in the piece at hand. The rest of the piece is put aside as the beginning of a line.
  private mutating func lineFromPiece() -> Event? {
    guard position < piece.count else { return nil }
    let rest = piece[position...]
    guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else {
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
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    return .line(line, number: number)
  }

  private mutating func lastLine() -> Event {
    line.isEmpty && !isOverlong ? .end : finishLine()
  }

  /// Reads the next piece. Nil when there is one or the end was reached.
  private mutating func readPiece(patience: Int32) -> Event? {
    // poll() waits for ever for a number that is no file's.
    guard file.rawValue >= 0 else { return .failure(EBADF) }
    // Looked at before reading, since a thread that is stuck in read() cannot be told to stop. A named pipe that nobody
    // has opened for writing yet is waited for, too.
    var state = pollfd(fd: file.rawValue, events: Int16(POLLIN), revents: 0)
    let ready = poll(&state, 1, patience)
    if ready == 0 || ready < 0 && errno == EINTR { return .idle }
    if ready < 0 { return .failure(errno) }
    if state.revents & Int16(POLLNVAL) != 0 { return .failure(EBADF) }
    var code: Int32 = 0
    piece = [UInt8](unsafeUninitializedCapacity: Self.pieceSize) { buffer, filled in
      let got = read(file.rawValue, buffer.baseAddress, Self.pieceSize)
      if got < 0 { code = errno }
      filled = max(0, got)
    }
    position = 0
    if code == EAGAIN || code == EINTR { return .idle }
    if code != 0 { return .failure(code) }
    isAtEnd = piece.isEmpty
    if isAtStart, !isAtEnd {
      isAtStart = false
      // A byte order mark, as editors of Windows write it.
      if piece.starts(with: [0xef, 0xbb, 0xbf]) { position = 3 }
    }
    return nil
  }
}
