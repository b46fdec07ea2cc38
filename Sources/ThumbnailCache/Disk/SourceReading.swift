import GRDB
import ThumbnailCore

/// Reads the data of one image, including pending writes, through one connection.
struct SourceReading {
  let source: SourceKey
  let commits: GroupCommit
  /// The connection; nil if there is no file.
  let db: Database?

  /// The stored history of the image.
  func history() throws -> SourceHistory {
    guard let db, !commits.pending({ $0.isHidden(source) }) else { return SourceHistory() }
    return try HistoryTable.history(of: source, in: db)
  }

  /// A thumbnail. Nil if it is missing or damaged. A hit counts as a use.
  func thumbnail(_ variant: Variant) throws -> Thumbnail? {
    let (thumbnail, row) = try find(variant)
    if let row { commits.noteUse(ofRow: row) }
    return thumbnail
  }

  private func find(_ variant: Variant) throws -> (Thumbnail?, row: Int64?) {
    let (pending, isHidden) = commits.pending { ($0.thumbnail(variant, of: source), $0.isHidden(source)) }
    guard pending == nil, !isHidden, let db else { return (pending, nil) }
    let key = CacheKey(source: source, variant: variant)
    do {
      switch try ThumbnailTable.thumbnail(for: key, in: db) {
      case .hit(let thumbnail, let row): return (thumbnail, row)
      case .miss: break
      case .damaged(let row): try drop(key, row: row)
      }
    } catch {
      guard DiskCacheError(error, path: "").isDamage else { throw error }
      try drop(key, row: nil)
    }
    return (nil, nil)
  }

  /// Removes a damaged thumbnail: only the row that was read, so that an intact one stored since is kept. `row` is nil
  /// if the row could not be read at all.
  private func drop(_ key: CacheKey, row: Int64?) throws {
    try commits.stage(.change(isHint: true) { db, _ in try ThumbnailTable.remove(key, row: row, in: db) })
  }

  /// The stored variants, in no particular order.
  func variants() throws -> [Variant] {
    let (pending, isHidden) = commits.pending { ($0.variants(of: source), $0.isHidden(source)) }
    guard let db, !isHidden else { return pending }
    return try pending + ThumbnailTable.variants(of: source, in: db).filter { !pending.contains($0) }
  }
}
