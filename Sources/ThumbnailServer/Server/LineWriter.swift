import Dispatch
import Synchronization
import ThumbnailCore

/// Writes lines to a descriptor, several at once and off the event loop. Lines without a reader do not fill the memory.
final class LineWriter: Sendable {
  private static let delay = DispatchTimeInterval.milliseconds(100)
  /// The most bytes that may wait; further lines are left out and counted.
  private static let mostBytes = 1 << 20

  private struct State {
    var buffer: [UInt8] = []
    var leftOut = 0
  }

  private let descriptor: Int32
  private let notice: @Sendable (Int) -> String?
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "thumbnailer.lines", qos: .utility)

  /// - Parameters:
  ///   - descriptor: The file that the lines are written to.
  ///   - notice: A line with the number of lines left out; nil for none.
  init(to descriptor: Int32, notice: @escaping @Sendable (Int) -> String?) {
    (self.descriptor, self.notice) = (descriptor, notice)
  }

  /// Appends a line, with its end.
  func append(_ line: [UInt8]) {
    let isFirst = state.withLock { state in
      guard state.buffer.count < Self.mostBytes else {
        state.leftOut += 1
        return false
      }
      defer { state.buffer.append(contentsOf: line) }
      return state.buffer.isEmpty
    }
    if isFirst { queue.asyncAfter(deadline: .now() + Self.delay) { [self] in writeLines() } }
  }

  /// Writes the remaining lines.
  func flush() { queue.sync { writeLines() } }

  private func writeLines() {
    let waiting = state.withLock { state in
      defer { state = State() }
      return state
    }
    var lines = waiting.buffer
    if waiting.leftOut > 0, let line = notice(waiting.leftOut) { lines += Array((line + "\n").utf8) }
    // If the reader has gone, that is no reason to end.
    try? NewFile.write(lines, to: descriptor)
  }
}
