import Synchronization
import ThumbnailCore

/// Reads lines from a descriptor, on a thread of its own, and no faster than `next` is called.
final class LineInput: @unchecked Sendable {
  // Safety: `reader` is used on the single thread of the pool alone.

  /// The result of a read.
  enum Batch: Sendable {
    /// The lines that were there.
    case lines([LineSplitter.Line])
    case end
    case failure(SystemFailure)
  }

  /// The time that a read waits before it checks whether to stop, in milliseconds.
  private static let patience: Int32 = 50

  private let pool = WorkerPool(name: "thumbnailer.worker.read", threads: 1)
  private let hasStopped = Atomic(false)
  private var reader: LineReader

  init(_ file: FileDescriptor, longestLine: Int) {
    self.longestLine = longestLine
    reader = LineReader(file, longestLine: longestLine)
  }

  /// The longest line, in bytes.
  let longestLine: Int

  /// Ends the input at once, also for a read that waits.
  func stop() { hasStopped.store(true, ordering: .relaxed) }

  /// Waits for lines, and returns all that have arrived.
  func next() async -> Batch {
    (try? await pool.run { [self] cancelled in read(cancelled) }) ?? .end
  }

  private func read(_ cancelled: CancellationFlag) -> Batch {
    while !cancelled.isSet, !hasStopped.load(ordering: .relaxed) {
      switch reader.next(patience: Self.patience) {
      case .line(let line): return .lines([line] + reader.takeRead())
      case .part, .idle: continue
      case .end: return .end
      case .failure(let failure): return .failure(failure)
      }
    }
    return .end
  }
}
