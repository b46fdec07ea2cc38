import Foundation
package import HTTPSemantics
import Synchronization
public import ThumbnailCore

/// Keeps encoded thumbnails in memory.
///
/// Every call is synchronous and takes well under a microsecond. Thread-safe. The total cost never exceeds the limit.
/// The cost of a thumbnail is the length of its data plus 512 bytes of overhead. Entries that were used once are
/// evicted before entries that were used again, so that scrolling through thousands of new images does not evict those
/// that people return to.
///
/// Stale entries are kept, because revalidation may confirm them, but they are not hits.
public final class MemoryCache: Sendable {
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
  public convenience init(byteLimit: Int, countLimit: Int = .max) {
    self.init(byteLimit: byteLimit, countLimit: countLimit, rule: ReuseRule())
  }

  /// The same with a freshness rule.
  package init(byteLimit: Int, countLimit: Int = .max, rule: ReuseRule) {
    self.rule = rule
    state = Mutex(State(entries: SegmentedLRU(byteLimit: byteLimit, countLimit: countLimit)))
  }

  /// The thumbnail for a key, which counts as a use. Nil if it is missing or stale.
  public func thumbnail(for key: CacheKey) -> Thumbnail? { thumbnail(for: key, admittedBy: rule) }

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
  public func insert(_ thumbnail: Thumbnail, for key: CacheKey) {
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
  public func remove(_ key: CacheKey) { state.withLock { $0.entries.remove(key) } }

  /// Removes all thumbnails of an image.
  public func removeAll(of source: SourceKey) { state.withLock { $0.entries.removeAll(of: source) } }

  /// The same, except some variants.
  func removeAll(of source: SourceKey, except kept: [Variant]) {
    state.withLock { $0.entries.removeAll(of: source, except: kept) }
  }

  /// Removes everything.
  public func removeAll() { state.withLock { $0.entries.removeAll() } }

  /// The cached variants of an image, in no particular order. Does not count as a use.
  public func variants(of source: SourceKey) -> [Variant] { state.withLock { $0.entries.variants(of: source) } }

  /// The most bytes that all thumbnails together may cost. Lowering it evicts before the call returns.
  public var byteLimit: Int {
    get { state.withLock { $0.entries.byteLimit } }
    set { state.withLock { $0.entries.setByteLimit(newValue) } }
  }

  /// The total cost of all thumbnails, in bytes.
  public var totalBytes: Int { state.withLock { $0.entries.totalBytes } }
  /// The number of thumbnails.
  public var count: Int { state.withLock { $0.entries.count } }
  /// The number of hits.
  public var hits: Int { state.withLock { $0.hits } }
  /// The number of misses.
  public var misses: Int { state.withLock { $0.misses } }
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

/// Keeps the most recently used micro thumbnails in memory, by image.
final class MicroMemory: Sendable {
  /// The most bytes of all together: at least the 2,300 used last.
  static let byteLimit = 4 << 20
  /// The overhead of each: a dictionary slot and the allocation of its data, in bytes.
  private static let overhead = 96

  private struct State {
    var thumbnails: Generations<SourceKey, Data>
    /// Counts removals of one or of all.
    var removals = 0
  }

  private let state: Mutex<State>

  init(byteLimit: Int = MicroMemory.byteLimit) {
    state = Mutex(State(thumbnails: Generations(limit: byteLimit) { $0.count + MicroMemory.overhead }))
  }

  /// The micro thumbnail of an image, which counts as a use.
  func data(of source: SourceKey) -> Data? { state.withLock { $0.thumbnails.use(source) } }

  /// Stores a micro thumbnail, replacing an earlier one of the image.
  func insert(_ data: Data, for source: SourceKey) { state.withLock { $0.thumbnails.insert(data, for: source) } }

  /// Changes whenever a micro thumbnail is removed.
  var removals: Int { state.withLock { $0.removals } }

  /// Stores a micro thumbnail from the disk, unless a newer one was stored meanwhile, or `removals` has changed since.
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

  /// Changes whenever some are evicted or all are removed.
  var drops: Int { state.withLock { $0.thumbnails.drops } }
}
