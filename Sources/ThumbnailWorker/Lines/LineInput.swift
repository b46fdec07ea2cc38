import Foundation
import Synchronization
import ThumbnailCore

/// Reads lines from a descriptor, on a thread of its own, and no faster than `next` is called.
final class LineInput: @unchecked Sendable {
  // Safety: `splitter` is used on the single thread of the pool alone.

  /// The result of a read.
  enum Batch: Sendable {
    /// The lines that were there.
    case lines([LineSplitter.Line])
    /// The input has ended, with these last lines.
    case end([LineSplitter.Line])
    case failure(SystemFailure)
  }

  /// The most bytes of one read, which is also the length of a pipe.
  private static let pieceLength = 64 << 10
  /// The time that a read waits before it checks whether to stop, in milliseconds.
  private static let patience: Int32 = 50

  private let file: FileDescriptor
  private let pool = WorkerPool(name: "thumbnailer.worker.read", threads: 1)
  private let hasStopped = Atomic(false)
  private var splitter: LineSplitter

  init(_ file: FileDescriptor, longestLine: Int) {
    (self.file, self.longestLine) = (file, longestLine)
    splitter = LineSplitter(limit: longestLine)
  }

  /// The longest line, in bytes.
  let longestLine: Int

  /// Ends the input at once, also for a read that waits.
  func stop() { hasStopped.store(true, ordering: .relaxed) }

  /// Waits for lines, and returns all that have arrived.
  func next() async -> Batch {
    (try? await pool.run { [self] cancelled in read(cancelled) }) ?? .end([])
  }

  private func read(_ cancelled: CancellationFlag) -> Batch {
    guard file.rawValue >= 0 else { return .failure(SystemFailure(code: EBADF)) }
    while !cancelled.isSet, !hasStopped.load(ordering: .relaxed) {
      // A thread that is blocked in read() could not be stopped.
      var state = pollfd(fd: file.rawValue, events: Int16(POLLIN), revents: 0)
      let ready = poll(&state, 1, Self.patience)
      if ready < 0, errno != EINTR { return .failure(.last) }
      guard ready > 0 else { continue }
      if let batch = readPiece() { return batch }
    }
    return .end([])
  }

  /// Reads the available bytes. Nil if they complete no line.
  private func readPiece() -> Batch? {
    var lines: [LineSplitter.Line] = []
    var count = 0
    let code = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.pieceLength) { buffer -> Int32 in
      count = Foundation.read(file.rawValue, buffer.baseAddress, buffer.count)
      if count < 0 { return errno }
      splitter.take(UnsafeBufferPointer(rebasing: buffer[..<count])) { lines.append($0) }
      return 0
    }
    if code == EINTR || code == EAGAIN { return nil }
    if code != 0 { return .failure(SystemFailure(code: code)) }
    if count == 0 { return .end([splitter.finish()].compactMap { $0 }) }
    return lines.isEmpty ? nil : .lines(lines)
  }
}
