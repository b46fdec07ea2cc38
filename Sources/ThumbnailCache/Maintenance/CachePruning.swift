package import Foundation
import GRDB
package import ThumbnailCore

/// Selects what to remove from a disk cache.
package struct CachePruning: Sendable, Equatable {
  /// Removes images fetched before this time, with all their thumbnails. Nil: regardless of the time.
  package var fetchedBefore: Date?
  /// Removes images of this host, in lower case; empty for local files. Together with `fetchedBefore`, only images that
  /// match both. Nil: regardless of the host.
  package var host: String?
  /// Removes thumbnails whose pixels are of an earlier version, of images that match the conditions above. Nil: all
  /// thumbnails of these images.
  package var madeBefore: PixelsVersion?
  /// A pruning that removes nothing unless a condition is given.
  package init(fetchedBefore: Date? = nil, host: String? = nil, madeBefore: PixelsVersion? = nil) {
    (self.fetchedBefore, self.host, self.madeBefore) = (fetchedBefore, host, madeBefore)
  }

  /// The removed thumbnails.
  package struct Outcome: Sendable, Equatable {
    /// The number of thumbnails.
    package var thumbnails = 0
    /// Their total length in bytes.
    package var bytes = 0

    /// Nothing removed.
    package init() {}

    /// All thumbnails of a file.
    init(countingIn db: Database) throws {
      self.init(thumbnails: try CacheTotals.counted(in: db), bytes: try CacheTotals.payload(in: db))
    }

    init(thumbnails: Int, bytes: Int) { (self.thumbnails, self.bytes) = (thumbnails, bytes) }

    static func - (before: Outcome, after: Outcome) -> Outcome {
      Outcome(thumbnails: before.thumbnails - after.thumbnails, bytes: before.bytes - after.bytes)
    }

    static func += (sum: inout Outcome, other: Outcome) {
      sum.thumbnails += other.thumbnails
      sum.bytes += other.bytes
    }
  }

  /// Selects the images whose thumbnails are removed if `isEarlier` holds; nil for none.
  var filter: SourceFilter? {
    guard fetchedBefore != nil || host != nil || madeBefore != nil else { return nil }
    return SourceFilter(host: host, fetchedBefore: fetchedBefore?.timeIntervalSince1970)
  }

  /// The condition for a row `t` of `thumbnail`. The column is missing in a file of an earlier program in a folder that
  /// cannot be written.
  func isEarlier(in db: Database) throws -> String {
    guard let madeBefore else { return "TRUE" }
    let isRecorded = try db.columns(in: "thumbnail").contains { $0.name == "pixels" }
    return "\(isRecorded ? ThumbnailTable.pixels : "\(PixelsVersion.first.number)") < \(madeBefore.number)"
  }
}

extension DiskCache {
  /// Removes what `pruning` selects and shrinks the file accordingly.
  ///
  /// Uses small transactions, between which other threads and processes can write. Cancelling the task ends it early,
  /// but removals are kept.
  package func prune(_ pruning: CachePruning) async throws(DiskCacheError) -> CachePruning.Outcome {
    var outcome = CachePruning.Outcome()
    let atOnce = try await maintain { try $0.beginPruning() }
    if let filter = pruning.filter {
      outcome += try await repeating(SourcePages(filter), while: { !$0.isAtEnd }) { db, pages in
        let images = try pages.next(atOnce, in: db).map { "\($0.row)" }.joined(separator: ",")
        // The trigger deletes a source with its last thumbnail. The second statement deletes sources without
        // thumbnails.
        try db.execute(
          sql: """
            DELETE FROM thumbnail AS t WHERE source IN (\(images)) AND \(try pruning.isEarlier(in: db));
            DELETE FROM source AS s
              WHERE id IN (\(images)) AND NOT EXISTS (SELECT 1 FROM thumbnail WHERE source = s.id);
            """)
      }
    }
    if outcome.thumbnails > 0 {
      // Pages that other processes still read are checkpointed later.
      try await maintain { try $0.finishPruning() }
    }
    return outcome
  }

  /// Runs transactions until the state says that they are done. The state changes with each commit. Each transaction
  /// returns its free pages to the file system. After each one the task sleeps as long as the transaction took (at most
  /// 25 ms), because other processes only poll for the write lock.
  private func repeating<State: Sendable>(
    _ start: State, while goesOn: (State) -> Bool, _ body: @escaping @Sendable (Database, inout State) throws -> Void
  ) async throws(DiskCacheError) -> CachePruning.Outcome {
    var (outcome, state) = (CachePruning.Outcome(), start)
    while goesOn(state) {
      let start = ContinuousClock.now
      let (part, next) = try await maintain { [state] writer in
        try writer.transaction(logBytes: CacheWriter.pruningLog) { db in
          try db.returnFreePagesAtCommit()
          let before = try CachePruning.Outcome(countingIn: db)
          var next = state
          try body(db, &next)
          return (try before - CachePruning.Outcome(countingIn: db), next)
        }
      }
      outcome += part
      state = next
      do { try await Task.sleep(for: min(.now - start, .milliseconds(25))) } catch { throw .cancelled }
    }
    return outcome
  }
}

extension CacheWriter {
  /// The length of the log at which it is checkpointed. Long, so that a page that several transactions change is copied
  /// once.
  fileprivate static let pruningLog = 64 << 20

  /// The number of rows to remove in one transaction, and a page cache for them until `finishPruning`. Each row changes
  /// a page of two indexes in random order, and a transaction writes each page once. So larger caches remove more rows
  /// together.
  fileprivate func beginPruning() throws -> Int {
    try connection().writeWithoutTransaction { db in
      let rows = min(max(try CacheTotals.counted(in: db) / 64, 1024), 4096)
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
