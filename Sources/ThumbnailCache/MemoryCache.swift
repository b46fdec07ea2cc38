package import HTTPSemantics
import Synchronization
public import ThumbnailCore

/// Keeps thumbnails in memory, as the bytes of their files.
///
/// Every call is synchronous, takes well under a microsecond with a prepared key and can come from any thread. What is
/// kept never costs more than the limit; the cost of a thumbnail is the length of its data and 512 bytes of bookkeeping.
/// When room is needed, what was asked for only once goes before what was asked for again, so that scrolling through
/// thousands of new pictures does not push out the ones people return to.
///
/// What is out of date by the rule given is kept, since its server may say that it still holds, but it is not handed out
/// as a hit.
public final class MemoryCache: Sendable {
  private struct State {
    var entries: SegmentedLRU
    var hits = 0
    var misses = 0
  }

  /// Decides what is out of date.
  private let rule: FreshnessRule

  private let state: Mutex<State>

  /// An empty cache.
  ///
  /// - Parameters:
  ///   - byteLimit: The most all thumbnails together may cost, in bytes. 0 keeps nothing.
  ///   - countLimit: The most thumbnails, whatever they cost.
  public convenience init(byteLimit: Int, countLimit: Int = .max) {
    self.init(byteLimit: byteLimit, countLimit: countLimit, rule: FreshnessRule())
  }

  /// The same with a rule of what is out of date.
  package init(byteLimit: Int, countLimit: Int = .max, rule: FreshnessRule) {
    self.rule = rule
    state = Mutex(State(entries: SegmentedLRU(byteLimit: byteLimit, countLimit: countLimit)))
  }

  /// The thumbnail of that key, and counts it as used. Nil when it is not held, or out of date.
  public func thumbnail(for key: CacheKey) -> Thumbnail? {
    state.withLock { state in
      guard let entry = state.entries.use(key), rule.admits(entry.freshness) else {
        state.misses += 1
        return nil
      }
      state.hits += 1
      return entry.thumbnail
    }
  }

  /// The thumbnail of that key, be it out of date, with how long it holds.
  func entry(for key: CacheKey) -> DatedThumbnail? {
    state.withLock { $0.entries.use(key) }
  }

  /// Keeps a thumbnail, in place of an earlier one of the same key.
  ///
  /// Others leave until the limits hold again. A thumbnail that costs more than the whole limit is not kept, and neither
  /// is the earlier one it would have replaced.
  public func insert(_ thumbnail: Thumbnail, for key: CacheKey) {
    insert(thumbnail, for: key, freshness: .lasting)
  }

  /// The same for a thumbnail that holds for a time.
  func insert(_ thumbnail: Thumbnail, for key: CacheKey, freshness: Freshness) {
    let entry = DatedThumbnail(thumbnail: thumbnail, freshness: freshness)
    state.withLock { $0.entries.insert(entry, for: key) }
  }

  /// Has all thumbnails of a picture hold for as long as this, which its server has confirmed.
  func renew(_ source: SourceKey, freshness: Freshness) {
    state.withLock { $0.entries.renew(source, freshness: freshness) }
  }

  /// Forgets one thumbnail.
  public func remove(_ key: CacheKey) {
    state.withLock { $0.entries.remove(key) }
  }

  /// Forgets all thumbnails of a picture.
  public func removeAll(of source: SourceKey) {
    state.withLock { $0.entries.removeAll(of: source) }
  }

  /// Forgets everything.
  public func removeAll() {
    state.withLock { $0.entries.removeAll() }
  }

  /// The variants held of a picture, in no particular order; this does not count as use.
  public func variants(of source: SourceKey) -> [Variant] {
    state.withLock { $0.entries.variants(of: source) }
  }

  /// The most all thumbnails together may cost, in bytes. Lowering it makes room before the call returns.
  public var byteLimit: Int {
    get { state.withLock { $0.entries.byteLimit } }
    set { state.withLock { $0.entries.setByteLimit(newValue) } }
  }

  /// What all thumbnails cost together, in bytes.
  public var totalBytes: Int { state.withLock { $0.entries.totalBytes } }
  /// The number of thumbnails held.
  public var count: Int { state.withLock { $0.entries.count } }
  /// How often a thumbnail was asked for and found.
  public var hits: Int { state.withLock { $0.hits } }
  /// How often a thumbnail was asked for in vain.
  public var misses: Int { state.withLock { $0.misses } }
}

/// A thumbnail and how long it holds.
package struct DatedThumbnail: Sendable {
  package var thumbnail: Thumbnail
  package var freshness: Freshness

  package init(thumbnail: Thumbnail, freshness: Freshness) {
    self.thumbnail = thumbnail
    self.freshness = freshness
  }
}
