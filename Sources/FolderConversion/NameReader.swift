import Foundation
import ThumbnailCore

/// Splits a list into names incrementally.
struct NameReader {
  private let separator: UInt8
  private var pending: [UInt8] = []

  /// For names terminated by zero bytes or by line feeds.
  init(isNullSeparated: Bool) {
    separator = isNullSeparated ? 0 : UInt8(ascii: "\n")
  }

  /// Parses a chunk of the list and passes complete names to `body`. Drops empty ones, and a carriage return before a
  /// line feed.
  mutating func feed(_ piece: some Collection<UInt8>, _ body: (ArraySlice<UInt8>) -> Void) {
    pending.append(contentsOf: piece)
    var start = 0
    while let end = pending[start...].firstIndex(of: separator) {
      emit(pending[start..<end], body)
      start = end + 1
    }
    pending.removeFirst(start)
  }

  /// Passes on the last name if the list does not end with a separator.
  mutating func finish(_ body: (ArraySlice<UInt8>) -> Void) {
    emit(pending[...], body)
    pending = []
  }

  private func emit(_ name: ArraySlice<UInt8>, _ body: (ArraySlice<UInt8>) -> Void) {
    let isLine = separator != 0
    let trimmed = isLine && name.last == UInt8(ascii: "\r") ? name.dropLast() : name
    if !trimmed.isEmpty { body(trimmed) }
  }

  /// Reads a descriptor to its end. Polls for cancellation every 100 ms, since the writer of a pipe may be slow.
  ///
  /// - Returns: The error; nil if there was none.
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
