import GRDB
import ThumbnailCore

/// Reads what is stored of one image, pending writes included, through one connection.
struct SourceReading {
  let source: SourceKey
  let commits: GroupCommit
  /// The connection; nil when there is no file.
  let db: Database?

  /// The stored history of the image.
  func history() throws -> SourceHistory {
    guard let db, !commits.pending({ $0.isHidden(source) }) else { return SourceHistory() }
    return try HistoryTable.history(of: source, in: db)
  }

  /// A thumbnail. Nil on a miss, or when it was damaged; counts as a look-up, and a hit as a use.
  func thumbnail(_ variant: Variant) throws -> Thumbnail? {
    let found = try find(CacheKey(source: source, variant: variant))
    commits.count(isHit: found != nil)
    return found
  }

  private func find(_ key: CacheKey) throws -> Thumbnail? {
    switch commits.pending({ $0.lookup(key) }) {
    case .pending(let thumbnail): return thumbnail
    case .removed: return nil
    case .unknown: break
    }
    guard let db else { return nil }
    do {
      switch try ThumbnailTable.thumbnail(for: key, in: db) {
      case .hit(let thumbnail, let row):
        commits.touch(row)
        return thumbnail
      case .miss:
        return nil
      case .damaged(let row):
        try commits.stage(.drop(key, row: row))
        return nil
      }
    } catch {
      guard DiskCacheError(error, path: "").isDamage else { throw error }
      try commits.stage(.drop(key, row: nil))
      return nil
    }
  }

  /// The stored variants, in no particular order.
  func variants() throws -> [Variant] {
    let (pending, databaseCounts) = commits.pending { $0.variants(of: source) }
    guard let db, databaseCounts else { return pending }
    return Array(Set(pending).union(try ThumbnailTable.variants(of: source, in: db)))
  }
}
