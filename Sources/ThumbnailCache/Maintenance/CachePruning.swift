package import Foundation
import GRDB

extension DiskCache {
  /// Removes the images fetched before this time, with all their thumbnails, and shrinks the file accordingly. Returns
  /// the lengths of the thumbnails in bytes.
  ///
  /// Uses small transactions, between which other threads and processes can write. Cancelling the task ends it early,
  /// but removals are kept.
  package func prune(fetchedBefore time: Date) async throws(DiskCacheError) -> [Int] {
    var removed: [Int] = []
    let atOnce = try await maintain { try $0.beginPruning() }
    var pages = SourcePages(SourceFilter(fetchedBefore: time.timeIntervalSince1970))
    while !pages.isAtEnd {
      let start = ContinuousClock.now
      let (bytes, rest) = try await maintain { [pages] in try $0.prune(pages, atOnce) }
      removed += bytes
      pages = rest
      // As long as the transaction took, at most 25 ms, because other processes only poll for the write lock.
      do { try await Task.sleep(for: min(.now - start, .milliseconds(25))) } catch { throw .cancelled }
    }
    if !removed.isEmpty {
      // Pages that other processes still read are checkpointed later.
      try await maintain { try $0.finishPruning() }
    }
    return removed
  }
}

extension CacheWriter {
  /// The length of the log at which it is checkpointed. Long, so that a page that several transactions change is copied
  /// once.
  fileprivate static let pruningLog = 64 << 20

  /// Removes the next images in one transaction, which returns its free pages to the file system. Returns the lengths of
  /// their thumbnails, and the pages that are left.
  fileprivate func prune(_ pages: SourcePages, _ atOnce: Int) throws -> ([Int], SourcePages) {
    var pages = pages
    let removed = try transaction(logBytes: Self.pruningLog) { db in
      try db.returnFreePagesAtCommit()
      let images = try pages.next(atOnce, in: db).map { "\($0.row)" }.joined(separator: ",")
      // The trigger deletes a source with its last thumbnail. The second statement deletes sources without thumbnails.
      let removed = try Int.fetchAll(
        db, sql: "DELETE FROM thumbnail WHERE source IN (\(images)) RETURNING \(CacheTotals.count("bytes"))")
      try db.execute(
        sql: """
          DELETE FROM source AS s
            WHERE id IN (\(images)) AND NOT EXISTS (SELECT 1 FROM thumbnail WHERE source = s.id)
          """)
      return removed
    }
    return (removed, pages)
  }

  /// The number of rows to remove in one transaction, and a page cache for them until `finishPruning`. Each row changes
  /// a page of two indexes in random order, and a transaction writes each page once. So larger caches remove more rows
  /// together.
  fileprivate func beginPruning() throws -> Int {
    try connection().writeWithoutTransaction { db in
      let rows = min(max(try db.integer("SELECT count(*) FROM recency") / 64, 1024), 4096)
      let pages = Self.pruningLog / DiskCacheLimits.pageSize
      // The page cache in KiB.
      try db.execute(sql: "PRAGMA cache_size = \(-16 * rows); PRAGMA wal_autocheckpoint = \(pages)")
      return rows
    }
  }

  /// Restores the settings that `beginPruning` has changed.
  fileprivate func finishPruning() throws {
    try connection().writeWithoutTransaction { db in
      try db.execute(
        sql: """
          PRAGMA cache_size = -2000; PRAGMA shrink_memory; PRAGMA wal_autocheckpoint = \(limits.checkpointPages)
          """)
    }
    try checkpoint()
  }
}
