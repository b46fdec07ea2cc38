import Foundation
import ThumbnailCore

/// Reads the names in a list, piece by piece.
struct NameReader {
  private let separator: UInt8
  private var pending: [UInt8] = []

  /// Names are ended by zero bytes, or by line feeds.
  init(isNullSeparated: Bool) {
    separator = isNullSeparated ? 0 : UInt8(ascii: "\n")
  }

  /// Takes a piece of the list and hands out the names that are complete. Empty ones are left out, and so is the carriage
  /// return before a line feed.
  mutating func feed(_ piece: some Collection<UInt8>, _ body: (ArraySlice<UInt8>) -> Void) {
    pending.append(contentsOf: piece)
    var start = 0
    while let end = pending[start...].firstIndex(of: separator) {
      emit(pending[start..<end], body)
      start = end + 1
    }
    pending.removeFirst(start)
  }

  /// Hands out the last name, where the list does not end with a separator.
  mutating func finish(_ body: (ArraySlice<UInt8>) -> Void) {
    emit(pending[...], body)
    pending = []
  }

  private func emit(_ name: ArraySlice<UInt8>, _ body: (ArraySlice<UInt8>) -> Void) {
    let isLine = separator != 0
    let trimmed = isLine && name.last == UInt8(ascii: "\r") ? name.dropLast() : name
    if !trimmed.isEmpty { body(trimmed) }
  }

  /// Reads a descriptor to its end. Looks every tenth of a second whether the work was cancelled, for whoever writes into
  /// a pipe may take his time.
  ///
  /// - Returns: Why it could not be read; nil when it was.
  mutating func read(
    _ descriptor: Int32, cancelled: CancellationFlag, _ body: (ArraySlice<UInt8>) -> Void
  ) -> SystemFailure? {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while !cancelled.isSet {
      var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      if poll(&polled, 1, 100) == 0 { continue }
      let count = Foundation.read(descriptor, &buffer, buffer.count)
      if count < 0 {
        if errno == EINTR || errno == EAGAIN { continue }
        return .last
      }
      if count == 0 { break }
      feed(buffer[..<count], body)
    }
    finish(body)
    return nil
  }
}
