import Foundation
import Synchronization
import ThumbnailCore

/// Keeps the micro thumbnails that were used last in memory, by image.
///
/// Two generations: what is used goes to the young one; when that has half of the limit, the old one is dropped and the
/// young one takes its place. So at least the last half of the limit is there, and no list has to be kept.
final class MicroMemory: Sendable {
  /// The most bytes that all take together: the 2,300 used last, at least.
  static let byteLimit = 4 << 20
  /// What one takes besides its bytes: a dictionary slot and the allocation of its data, in bytes.
  private static let overhead = 96

  private struct State {
    var young: [SourceKey: Data] = [:]
    var old: [SourceKey: Data] = [:]
    var youngBytes = 0
    /// Counts the generations that were dropped.
    var drops = 0
    /// Counts removals, of one or of all.
    var removals = 0

    mutating func put(_ data: Data, for source: SourceKey, limit: Int) {
      if let former = young.updateValue(data, forKey: source) { youngBytes -= former.count + MicroMemory.overhead }
      youngBytes += data.count + MicroMemory.overhead
      guard youngBytes > limit / 2 else { return }
      (old, young, youngBytes) = (young, [:], 0)
      drops += 1
    }

    mutating func remove(_ source: SourceKey) {
      removals += 1
      if let former = young.removeValue(forKey: source) { youngBytes -= former.count + MicroMemory.overhead }
      old[source] = nil
    }
  }

  private let state = Mutex(State())
  private let limit: Int

  init(byteLimit: Int = MicroMemory.byteLimit) { limit = byteLimit }

  /// The micro thumbnail of an image, which counts as a use.
  func data(of source: SourceKey) -> Data? {
    state.withLock { state in
      if let data = state.young[source] { return data }
      guard let data = state.old.removeValue(forKey: source) else { return nil }
      state.put(data, for: source, limit: limit)
      return data
    }
  }

  /// Stores one, in place of an earlier one of the image.
  func insert(_ data: Data, for source: SourceKey) {
    state.withLock { state in
      state.old[source] = nil
      state.put(data, for: source, limit: limit)
    }
  }

  /// Changes whenever one is removed.
  var removals: Int { state.withLock { $0.removals } }

  /// Stores one that was read from the disk, unless a newer one has come meanwhile, or any was removed since there were
  /// so many `removals`.
  func insertRead(_ data: Data, for source: SourceKey, after removals: Int) {
    state.withLock { state in
      guard state.removals == removals, state.young[source] == nil, state.old[source] == nil else { return }
      state.put(data, for: source, limit: limit)
    }
  }

  func remove(_ source: SourceKey) { state.withLock { $0.remove(source) } }

  func removeAll() {
    state.withLock { state in
      state = State(drops: state.drops + 1, removals: state.removals + 1)
    }
  }

  /// Changes whenever some were dropped to make room, or all were removed.
  var drops: Int { state.withLock { $0.drops } }
}
