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
  let entries: Mutex<SegmentedLRU>

  /// An empty cache for thumbnails that together cost at most this many bytes. 0 keeps nothing.
  package init(byteLimit: Int) { entries = Mutex(SegmentedLRU(byteLimit: byteLimit)) }

  /// The thumbnail for a key, which counts as a use. Nil if it is missing or stale by the rule.
  func thumbnail(for key: CacheKey, admittedBy rule: ReuseRule) -> Thumbnail? {
    entry(for: key).flatMap { rule.admits($0.freshness) ? $0.thumbnail : nil }
  }

  /// The thumbnail for a key, stale or not, with its freshness.
  func entry(for key: CacheKey) -> DatedThumbnail? { entries.withLock { $0.use(key) } }

  /// Stores a thumbnail, replacing an earlier one of the same key.
  ///
  /// Evicts others until the limit holds. A thumbnail that costs more than the whole limit is not stored, but the
  /// earlier one that it would replace is removed.
  func insert(_ thumbnail: Thumbnail, for key: CacheKey, freshness: Freshness) {
    let entry = DatedThumbnail(thumbnail: thumbnail, freshness: freshness)
    entries.withLock { $0.insert(entry, for: key) }
  }

  /// Sets the freshness of all thumbnails of an image, after revalidation.
  func renew(_ source: SourceKey, freshness: Freshness) {
    entries.withLock { $0.renew(source, freshness: freshness) }
  }

  /// Removes all thumbnails of an image, except some variants.
  func removeAll(of source: SourceKey, except kept: [Variant] = []) {
    entries.withLock { $0.removeAll(of: source, except: kept) }
  }

  /// Removes everything.
  func removeAll() { entries.withLock { $0.removeAll() } }

  /// The cached variants of an image, in no particular order. Does not count as a use.
  func variants(of source: SourceKey) -> [Variant] { entries.withLock { $0.variants(of: source) } }
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
