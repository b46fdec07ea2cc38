import Foundation
package import HTTPSemantics
import Synchronization
package import ThumbnailCore

/// Keeps encoded thumbnails in memory.
///
/// Every call is synchronous and takes well under a microsecond. Thread-safe. The total cost never exceeds the limit.
/// The cost of a thumbnail is the length of its data plus 512 bytes of overhead. Entries that were used once are
/// evicted before entries that were used again, so that scrolling through thousands of new images does not evict those
/// that people return to.
///
/// Stale entries are kept, because revalidation may confirm them, but they are not hits.
package final class MemoryCache: Sendable {
  private struct State {
    var entries: SegmentedLRU
    var hits = 0
    var misses = 0
  }

  /// Decides what is stale.
  private let rule: ReuseRule

  private let state: Mutex<State>

  /// An empty cache.
  ///
  /// - Parameters:
  ///   - byteLimit: The most bytes that all thumbnails together may cost. 0 keeps nothing.
  ///   - countLimit: The most thumbnails, regardless of their cost.
  package convenience init(byteLimit: Int, countLimit: Int = .max) {
    self.init(byteLimit: byteLimit, countLimit: countLimit, rule: ReuseRule())
  }

  /// The same with a freshness rule.
  package init(byteLimit: Int, countLimit: Int = .max, rule: ReuseRule) {
    self.rule = rule
    state = Mutex(State(entries: SegmentedLRU(byteLimit: byteLimit, countLimit: countLimit)))
  }

  /// The thumbnail for a key, which counts as a use. Nil if it is missing or stale.
  package func thumbnail(for key: CacheKey) -> Thumbnail? { thumbnail(for: key, admittedBy: rule) }

  /// The same by another freshness rule.
  func thumbnail(for key: CacheKey, admittedBy rule: ReuseRule) -> Thumbnail? {
    state.withLock { state in
      guard let entry = state.entries.use(key), rule.admits(entry.freshness) else {
        state.misses += 1
        return nil
      }
      state.hits += 1
      return entry.thumbnail
    }
  }

  /// The thumbnail for a key, stale or not, with its freshness.
  func entry(for key: CacheKey) -> DatedThumbnail? { state.withLock { $0.entries.use(key) } }

  /// Stores a thumbnail, replacing an earlier one of the same key.
  ///
  /// Evicts others until the limits hold. A thumbnail that costs more than the whole limit is not stored, but the
  /// earlier one that it would replace is removed.
  package func insert(_ thumbnail: Thumbnail, for key: CacheKey) {
    insert(thumbnail, for: key, freshness: .lasting)
  }

  /// The same for a thumbnail with limited freshness.
  func insert(_ thumbnail: Thumbnail, for key: CacheKey, freshness: Freshness) {
    let entry = DatedThumbnail(thumbnail: thumbnail, freshness: freshness)
    state.withLock { $0.entries.insert(entry, for: key) }
  }

  /// Sets the freshness of all thumbnails of an image, after revalidation.
  func renew(_ source: SourceKey, freshness: Freshness) {
    state.withLock { $0.entries.renew(source, freshness: freshness) }
  }

  /// Removes one thumbnail.
  package func remove(_ key: CacheKey) { state.withLock { $0.entries.remove(key) } }

  /// Removes all thumbnails of an image.
  package func removeAll(of source: SourceKey) { state.withLock { $0.entries.removeAll(of: source) } }

  /// The same, except some variants.
  func removeAll(of source: SourceKey, except kept: [Variant]) {
    state.withLock { $0.entries.removeAll(of: source, except: kept) }
  }

  /// Removes everything.
  package func removeAll() { state.withLock { $0.entries.removeAll() } }

  /// The cached variants of an image, in no particular order. Does not count as a use.
  package func variants(of source: SourceKey) -> [Variant] { state.withLock { $0.entries.variants(of: source) } }

  /// The most bytes that all thumbnails together may cost. Lowering it evicts before the call returns.
  package var byteLimit: Int {
    get { state.withLock { $0.entries.byteLimit } }
    set { state.withLock { $0.entries.setByteLimit(newValue) } }
  }

  /// The total cost of all thumbnails, in bytes.
  package var totalBytes: Int { state.withLock { $0.entries.totalBytes } }
  /// The number of thumbnails.
  package var count: Int { state.withLock { $0.entries.count } }
  /// The number of hits.
  package var hits: Int { state.withLock { $0.hits } }
  /// The number of misses.
  package var misses: Int { state.withLock { $0.misses } }
}

/// A thumbnail and its freshness.
package struct DatedThumbnail: Sendable {
  package var thumbnail: Thumbnail
  package var freshness: Freshness

  package init(thumbnail: Thumbnail, freshness: Freshness) {
    self.thumbnail = thumbnail
    self.freshness = freshness
  }
}
