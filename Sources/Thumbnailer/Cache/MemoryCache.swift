import Synchronization

/// Keeps thumbnails in memory, as the bytes of their files.
///
/// Every call is synchronous, takes well under a microsecond with a prepared key and can come from any thread. What is
/// kept never costs more than the limit; the cost of a thumbnail is the length of its data and 512 bytes of bookkeeping.
/// When room is needed, what was asked for only once goes before what was asked for again, so that scrolling through
/// thousands of new pictures does not push out the ones people return to.
///
/// Nothing expires here: a thumbnail follows from its source and its variant alone. Whether the source itself has
/// changed is for those to decide who fetch it; they remove it or store it anew.
public final class MemoryCache: Sendable {
  private struct State {
    var entries: SegmentedLRU
    var hits = 0
    var misses = 0
  }

  private let state: Mutex<State>

  /// An empty cache.
  ///
  /// - Parameters:
  ///   - byteLimit: The most all thumbnails together may cost, in bytes. 0 keeps nothing.
  ///   - countLimit: The most thumbnails, whatever they cost.
  public init(byteLimit: Int, countLimit: Int = .max) {
    state = Mutex(State(entries: SegmentedLRU(byteLimit: byteLimit, countLimit: countLimit)))
  }

  /// The thumbnail of that key, and counts it as used. Nil when it is not held.
  public func thumbnail(for key: CacheKey) -> Thumbnail? {
    state.withLock { state in
      let thumbnail = state.entries.use(key)
      if thumbnail == nil { state.misses += 1 } else { state.hits += 1 }
      return thumbnail
    }
  }

  /// Keeps a thumbnail, in place of an earlier one of the same key.
  ///
  /// Others leave until the limits hold again. A thumbnail that costs more than the whole limit is not kept, and neither
  /// is the earlier one it would have replaced.
  public func insert(_ thumbnail: Thumbnail, for key: CacheKey) {
    state.withLock { $0.entries.insert(thumbnail, for: key) }
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
