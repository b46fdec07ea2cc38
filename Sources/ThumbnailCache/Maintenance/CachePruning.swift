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

    /// All that a file has.
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
  /// Removes what `pruning` selects and shrinks the file accordingly.
  ///
  /// Uses small transactions, between which other threads and processes can write. Cancelling the task ends it early;
  /// what was removed stays removed.
  public func prune(_ pruning: CachePruning) async throws(DiskCacheError) -> CachePruning.Outcome {
    var outcome = CachePruning.Outcome()
    let atOnce = try await maintain { try $0.rowsAtOnce() }
    if let filter = pruning.filter {
      let pages = SourcePages(filter)
      outcome += try await repeating(pages, while: { !$0.isAtEnd }) { try $0.removeImages(&$1, atMost: atOnce) }
    }
    if let limit = pruning.byteLimit.map({ max(0, $0) }) {
      outcome += try await maintain { try $0.shrink(toBytes: limit) }
      let compaction = try await maintain { try $0.compaction(toBytes: limit, rows: atOnce) }
      outcome += try await repeating(compaction, while: { !$0.isDone }) { try $0.compact(&$1) }
      // What was not where it was expected, or came meanwhile.
      outcome += try await repeating(1, while: { $0 > 0 }) { writer, removed in
        let part = try writer.removeUnused(toBytes: limit, atMost: atOnce)
        removed = part.thumbnails
        return part
      }
    }
    if outcome.thumbnails > 0 {
      // What other processes are still reading is checkpointed later.
      try await maintain { try $0.finishPruning() }
    }
    return outcome
  }

  /// Runs transactions as long as there is something to do, with a state that changes with each that is committed.
  /// After each it sleeps as long as that took (25 ms at most), since other processes only poll for the write lock.
  private func repeating<State: Sendable>(
    _ start: State, while goesOn: (State) -> Bool,
    _ body: @escaping @Sendable (CacheWriter, inout State) throws -> CachePruning.Outcome
  ) async throws(DiskCacheError) -> CachePruning.Outcome {
    var outcome = CachePruning.Outcome()
    var state = start
    while goesOn(state) {
      let start = ContinuousClock.now
      let (part, next) = try await maintain { [state] writer in
        var next = state
        return (try body(writer, &next), next)
      }
      outcome += part
      state = next
      do { try await Task.sleep(for: min(.now - start, .milliseconds(25))) } catch { throw .cancelled }
    }
    return outcome
  }

  /// What `prune` would remove now. Blocks for up to a second with 100,000 thumbnails.
  public func pruned(by pruning: CachePruning) throws(DiskCacheError) -> CachePruning.Outcome {
    try read(inSnapshot: true) { try pruning.outcome(in: $0) } ?? CachePruning.Outcome()
  }
}

/// Pruning, in small transactions that each return their free pages to the file system.
extension CacheWriter {
  /// The length of the log at which it is checkpointed: a page that several transactions change is copied once.
  private var pruningLog: Int { 64 << 20 }

  /// The rows to remove in one transaction. Each changes a page of two indexes that are in random order; a transaction
  /// writes a page once, so that the more pages there are, the more rows go together. Has room for the pages in memory
  /// until `finishPruning`.
  fileprivate func rowsAtOnce() throws -> Int {
    try connection().writeWithoutTransaction { db in
      let rows = min(max(try CacheTotals.counted(in: db) / 64, 1024), 4096)
      // In KiB.
      try db.execute(sql: "PRAGMA cache_size = \(-16 * rows); PRAGMA wal_autocheckpoint = \(pruningLog / 4096)")
      return rows
    }
  }

  /// Ends what `rowsAtOnce` has begun.
  fileprivate func finishPruning() throws {
    try connection().writeWithoutTransaction { db in
      try db.execute(
        sql: """
          PRAGMA cache_size = -2000; PRAGMA shrink_memory; PRAGMA wal_autocheckpoint = \(limits.checkpointPages)
          """)
    }
    try checkpoint()
  }

  /// Removes the images of the next portion.
  fileprivate func removeImages(_ pages: inout SourcePages, atMost most: Int) throws -> CachePruning.Outcome {
    try measured { db in
      let images = try pages.next(most, in: db).map { "\($0.row)" }.joined(separator: ",")
      for column in ["thumbnail WHERE source", "source WHERE id"] {
        // The trigger deletes the source with its last thumbnail; this deletes one that had none.
        try db.execute(sql: "DELETE FROM \(column) IN (\(images))")
      }
    }
  }

  /// What is to be removed so that the rest takes at most `bytes`.
  fileprivate func compaction(toBytes bytes: Int, rows: Int) throws -> Compaction {
    try connection().unsafeRead { db in
      guard try CacheTotals.payload(in: db) > bytes else { return Compaction(cutoff: .min, rows: rows) }
      return Compaction(cutoff: try Eviction.startOfSurvivors(bytes: bytes, in: db) ?? .min, rows: rows)
    }
  }

  /// Takes one step.
  fileprivate func compact(_ compaction: inout Compaction) throws -> CachePruning.Outcome {
    try measured { try compaction.step(in: $0) }
  }

  /// Removes the least recently used thumbnails until the rest takes at most `bytes`.
  fileprivate func removeUnused(toBytes bytes: Int, atMost most: Int) throws -> CachePruning.Outcome {
    try measured { db in _ = try Eviction(limits: limits).evict(in: db, toPayload: bytes, atMost: most) }
  }

  /// Runs `body` in a transaction and returns what it removed.
  private func measured(_ body: (Database) throws -> Void) throws -> CachePruning.Outcome {
    try transaction(logBytes: pruningLog) { db in
      try db.returnFreePagesAtCommit()
      let before = try CachePruning.Outcome(countingIn: db)
      try body(db)
      return try before - CachePruning.Outcome(countingIn: db)
    }
  }
}
