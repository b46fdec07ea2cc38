public import Foundation
import GRDB

/// What to remove from a disk cache.
public struct CachePruning: Sendable, Equatable {
  /// Removes images fetched before this, with all their thumbnails. Nil: regardless of the time.
  public var fetchedBefore: Date?
  /// Removes images of this host; combined with `fetchedBefore`, only those fetched before it. In lower case; empty
  /// stands for local files. Nil: regardless of the host.
  public var host: String?
  /// Of what is left, removes the least recently used thumbnails until the others take no more than this many bytes.
  /// Nil: none.
  public var byteLimit: Int?

  /// Removes nothing unless something is given.
  public init(fetchedBefore: Date? = nil, host: String? = nil, byteLimit: Int? = nil) {
    (self.fetchedBefore, self.host, self.byteLimit) = (fetchedBefore, host, byteLimit)
  }

  /// What was removed.
  public struct Outcome: Sendable, Equatable {
    /// The number of thumbnails.
    public var thumbnails = 0
    /// Their total length in bytes.
    public var bytes = 0

    /// Nothing removed.
    public init() {}

    init(thumbnails: Int, bytes: Int) { (self.thumbnails, self.bytes) = (thumbnails, bytes) }

    static func += (sum: inout Outcome, other: Outcome) {
      sum.thumbnails += other.thumbnails
      sum.bytes += other.bytes
    }
  }

  /// The images to remove as a whole; nil if none.
  var filter: SourceFilter? {
    guard fetchedBefore != nil || host != nil else { return nil }
    return SourceFilter(host: host, fetchedBefore: fetchedBefore?.timeIntervalSince1970)
  }

  /// Simulates the pruning, in the order of eviction.
  func outcome(in db: Database) throws -> Outcome {
    var leaving = Outcome()
    var excess = try byteLimit.map { try CacheTotals.payload(in: db) - max(0, $0) } ?? 0
    let rows = try Row.fetchCursor(
      db,
      sql: """
        SELECT \(CacheTotals.count("r.bytes")), s.host, s.fetched_at FROM recency r JOIN thumbnail t ON t.id = r.id
        LEFT JOIN source s ON s.id = t.source ORDER BY r.used
        """)
    var kept: [Int] = []
    while let row = try rows.next() {
      let bytes = try row.decode(Int.self, atIndex: 0)
      if filter != nil, (try? isMeant(row)) == true {
        leaving += Outcome(thumbnails: 1, bytes: bytes)
        excess -= bytes
      } else if byteLimit != nil {
        kept.append(bytes)
      }
    }
    for bytes in kept {
      if excess <= 0 { break }
      leaving += Outcome(thumbnails: 1, bytes: bytes)
      excess -= bytes
    }
    return leaving
  }

  private func isMeant(_ row: Row) throws -> Bool {
    guard let host = try row.decode(String?.self, atIndex: 1) else { return false }
    let fetchedAt = try row.decode(Double.self, atIndex: 2)
    return (self.host ?? host) == host && fetchedAt < fetchedBefore?.timeIntervalSince1970 ?? .infinity
  }
}

extension DiskCache {
  /// The number of images or thumbnails removed in one transaction.
  private static let prunedAtOnce = 128

  /// Removes what `pruning` selects and shrinks the file accordingly.
  ///
  /// Uses small transactions, between which other threads and processes can write. Cancelling the task ends it early;
  /// what was removed stays removed.
  public func prune(_ pruning: CachePruning) async throws(DiskCacheError) -> CachePruning.Outcome {
    var outcome = CachePruning.Outcome()
    if let filter = pruning.filter {
      var pages = SourcePages(filter)
      while !pages.isAtEnd {
        let (part, next) = try await inTurn { [pages] writer in
          var pages = pages
          let part = try writer.removeImages(&pages, atMost: Self.prunedAtOnce)
          return (part, pages)
        }
        outcome += part
        pages = next
      }
    }
    if let limit = pruning.byteLimit {
      var part = CachePruning.Outcome(thumbnails: 1, bytes: 0)
      while part.thumbnails > 0 {
        part = try await inTurn { try $0.removeUnused(toBytes: max(0, limit), atMost: Self.prunedAtOnce) }
        outcome += part
      }
    }
    if outcome.thumbnails > 0 {
      while try await !inTurn({ try $0.giveBackPages(atMost: $0.limits.vacuumPages) }) {}
      // What other processes are still reading is checkpointed later.
      let _: Bool = try await maintain {
        try $0.checkpoint()
        return true
      }
    }
    return outcome
  }

  /// Runs one transaction, then sleeps as long as it took (25 ms at most), since other processes only poll for the
  /// write lock.
  private func inTurn<Value: Sendable>(
    _ body: @escaping @Sendable (CacheWriter) throws -> Value
  ) async throws(DiskCacheError) -> Value {
    let start = ContinuousClock.now
    let value = try await maintain { try body($0) }
    do {
      try await Task.sleep(for: min(.now - start, .milliseconds(25)))
    } catch {
      throw .cancelled
    }
    return value
  }

  /// What `prune` would remove now. Blocks for up to a second with 100,000 thumbnails.
  public func pruned(by pruning: CachePruning) throws(DiskCacheError) -> CachePruning.Outcome {
    try read { db in
      var outcome = CachePruning.Outcome()
      try db.inTransaction(.deferred) {
        outcome = try pruning.outcome(in: db)
        return .commit
      }
      return outcome
    } ?? CachePruning.Outcome()
  }
}

/// Pruning, in small transactions that each return their free pages to the file system.
extension CacheWriter {
  /// Removes the images of the next portion.
  fileprivate func removeImages(_ pages: inout SourcePages, atMost most: Int) throws -> CachePruning.Outcome {
    var next = pages
    let outcome = try measured { db in
      for image in try next.next(most, in: db) {
        try db.cachedStatement(sql: "DELETE FROM thumbnail WHERE source = ?").execute(arguments: [image.row])
        // The trigger deletes the source with its last thumbnail; this deletes one that had none.
        try db.cachedStatement(sql: "DELETE FROM source WHERE id = ?").execute(arguments: [image.row])
      }
    }
    pages = next
    return outcome
  }

  /// Removes the least recently used thumbnails until the rest takes at most `bytes`.
  fileprivate func removeUnused(toBytes bytes: Int, atMost most: Int) throws -> CachePruning.Outcome {
    try measured { db in _ = try Eviction(limits: limits).evict(in: db, toPayload: bytes, atMost: most) }
  }

  /// Returns free pages to the file system, up to a number.
  ///
  /// - Returns: Whether no free page is left.
  fileprivate func giveBackPages(atMost most: Int) throws -> Bool {
    var free = 0
    try transaction { db in
      try db.execute(sql: "PRAGMA incremental_vacuum(\(most))")
      free = try db.integer("PRAGMA freelist_count")
    }
    return free == 0
  }

  /// Runs `body` in a transaction and returns what it removed.
  private func measured(_ body: (Database) throws -> Void) throws -> CachePruning.Outcome {
    var outcome = CachePruning.Outcome()
    try transaction { db in
      let thumbnails = try CacheTotals.thumbnails(in: db)
      let bytes = try CacheTotals.payload(in: db)
      try body(db)
      outcome.thumbnails = thumbnails - (try CacheTotals.thumbnails(in: db))
      outcome.bytes = bytes - (try CacheTotals.payload(in: db))
      // Done right away, since SQLite searches the whole list of free pages for each page it returns.
      try db.execute(sql: "PRAGMA incremental_vacuum(\(limits.vacuumPages))")
    }
    return outcome
  }
}
