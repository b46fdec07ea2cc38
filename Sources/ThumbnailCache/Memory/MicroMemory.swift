import Foundation
import Synchronization
import ThumbnailCore

/// Keeps the micro thumbnails that were used last in memory, by image.
final class MicroMemory: Sendable {
  /// The most bytes that all take together: the 2,300 used last, at least.
  static let byteLimit = 4 << 20
  /// What one takes besides its bytes: a dictionary slot and the allocation of its data, in bytes.
  private static let overhead = 96

  private struct State {
    var thumbnails: Generations<SourceKey, Data>
    /// Counts removals, of one or of all.
    var removals = 0
  }

  private let state: Mutex<State>

  init(byteLimit: Int = MicroMemory.byteLimit) {
    state = Mutex(State(thumbnails: Generations(limit: byteLimit) { $0.count + MicroMemory.overhead }))
  }

  /// The micro thumbnail of an image, which counts as a use.
  func data(of source: SourceKey) -> Data? { state.withLock { $0.thumbnails.use(source) } }

  /// Stores one, in place of an earlier one of the image.
  func insert(_ data: Data, for source: SourceKey) { state.withLock { $0.thumbnails.insert(data, for: source) } }

  /// Changes whenever one is removed.
  var removals: Int { state.withLock { $0.removals } }

  /// Stores one that was read from the disk, unless a newer one has come meanwhile, or any was removed since there were
  /// so many `removals`.
  func insertRead(_ data: Data, for source: SourceKey, after removals: Int) {
    state.withLock { state in
      if state.removals == removals, state.thumbnails.use(source) == nil {
        state.thumbnails.insert(data, for: source)
      }
    }
  }

  func remove(_ source: SourceKey) {
    state.withLock { state in
      state.removals += 1
      state.thumbnails.remove(source)
    }
  }

  func removeAll() {
    state.withLock { state in
      state.removals += 1
      state.thumbnails.removeAll()
    }
  }

  /// Changes whenever some were dropped to make room, or all were removed.
  var drops: Int { state.withLock { $0.thumbnails.drops } }
}
