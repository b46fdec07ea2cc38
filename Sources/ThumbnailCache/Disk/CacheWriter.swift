import Foundation
import GRDB
import ThumbnailCore

/// The transactions on the write connection. Used by one thread.
struct CacheWriter: Sendable {
  let queue: DatabaseQueue
  let limits: DiskCacheLimits
  let connections: CacheConnections
  /// The path of the write-ahead log.
  private let logPath: RawPath
  private let pieces = PieceWriter()
  private var eviction: Eviction { Eviction(limits: limits) }

  /// Uses `queue`, the writer of `connections` to the file at `path`.
  init(queue: DatabaseQueue, of connections: CacheConnections, limits: DiskCacheLimits, path: String) throws {
    self.queue = queue
    self.connections = connections
    self.limits = limits
    logPath = RawPath(path + "-wal")
    // A log that has grown beyond this size is truncated when it restarts. A statement that fires triggers copies the
    // pages that it changes: to memory, not to a file.
    try queue.writeWithoutTransaction { db in
      try db.execute(
        sql: """
          PRAGMA temp_store = MEMORY;
          PRAGMA wal_autocheckpoint = \(limits.checkpointPages);
          PRAGMA journal_size_limit = \(limits.checkpointPages * DiskCacheLimits.pageSize)
          """)
    }
  }

  /// Commits a batch in one transaction.
  ///
  /// Evicts before inserting, so that new thumbnails reuse the freed pages and the file does not grow.
  func commit(_ batch: PendingWrites.Batch) throws {
    guard batch.hasWork else { return }
    let incoming = batch.operations.reduce(0) { $0 + $1.payloadBytes(limit: limits.byteLimit) }
    let reports = try transaction { db in
      var reports: [@Sendable () -> Void] = []
      for row in batch.touched {
        try db.run("UPDATE recency SET used = (SELECT max(used) + 1 FROM recency) WHERE id = ?", [row])
      }
      if batch.hasLookups { try CacheTotals.add(hits: batch.hits, misses: batch.misses, in: db) }
      try eviction.evict(in: db, toPayload: max(0, limits.byteLimit - incoming))
      for operation in batch.operations { try apply(operation, in: db, &reports) }
      try eviction.evict(in: db, toPayload: limits.byteLimit)
      try eviction.giveBackPages(in: db)
      return reports
    }
    for report in reports { report() }
  }

  private func apply(
    _ operation: PendingWrites.Operation, in db: Database, _ reports: inout [@Sendable () -> Void]
  ) throws {
    switch operation {
    case .store(let record, let entries, let replacement, let receipt):
      var isKnown = try ThumbnailTable.hasSource(record.key, in: db)
      if isKnown, case .ifOutdated(let rule, let report) = replacement,
        try HistoryTable.history(of: record.key, in: db).isOutdated(by: record.response, rule: rule)
      {
        try remove(record.key, in: db)
        isKnown = false
        reports.append(report)
      }
      let count = try store(entries, of: record, isKnown: isKnown, in: db)
      // The thumbnails that were not stored are all that is missing of the transaction.
      if count < entries.count { receipt?.settle(isWritten: false) }
    case .remove(let source): try remove(source, in: db)
    case .drop(let key, let row): try ThumbnailTable.remove(key, row: row, in: db)
    case .pages(let change): try PageTable.apply(change, limits: limits, in: db)
    case .note(let source, let change): try HistoryTable.apply(change, of: source, limits: limits, in: db)
    case .removeAll, .trim, .copy, .work, .replaceDamaged, .barrier: break
    }
  }

  /// Stores thumbnails of an image. `isKnown`: whether anything of it is stored. Returns how many were stored.
  private func store(
    _ entries: [CacheEntry], of record: SourceRecord, isKnown: Bool, in db: Database
  ) throws -> Int {
    // A thumbnail made from another one shares the freshness of its source. If the source is gone, that is unknown.
    if record.fetchedAt == nil, !isKnown { return 0 }
    if isKnown {
      for entry in entries {
        try ThumbnailTable.remove(CacheKey(source: record.key, variant: entry.variant), in: db)
      }
    }
    // A thumbnail larger than the whole limit is not stored; the one it would replace is removed all the same.
    let kept = entries.indices.filter { index in
      entries[index].thumbnail.data.count <= limits.byteLimit
        && !entries[(index + 1)...].contains { $0.variant == entries[index].variant }
    }
    guard !kept.isEmpty else { return 0 }
    let source = try ThumbnailTable.put(record, in: db)
    for index in kept {
      try ThumbnailTable.insert(entries[index], of: record.key, row: source, pieces: pieces, in: db)
    }
    if let response = record.response { try HistoryTable.put(response, of: record.key, in: db) }
    return kept.count
  }

  /// Removes an image with its thumbnails and its history.
  private func remove(_ source: SourceKey, in db: Database) throws {
    try ThumbnailTable.removeAll(of: source, in: db)
    try HistoryTable.removeFailures(of: source, in: db)
  }

  /// Runs `body` in its own transaction. `logBytes`: how long the log may become; by default as the limits say.
  func transaction<Value>(logBytes: Int? = nil, _ body: (Database) throws -> Value) throws -> Value {
    let value = try queue.write { db in
      // A process that replaces the file holds its lock meanwhile, so that no write to the current file is lost.
      guard connections.isInPlace else { throw DatabaseError(resultCode: .SQLITE_READONLY_DBMOVED) }
      return try body(db)
    }
    // Continuous readers prevent the automatic checkpoint from restarting the log. When it has grown too long, this
    // waits for them.
    if let log = try? FileState(of: logPath), log.byteCount > logBytes ?? limits.logBytes { try checkpoint() }
    return value
  }

  /// Where the thumbnails of so many bytes begin that were used last, if they are so few that copying them is faster.
  func startOfFewSurvivors(bytes: Int) throws -> Int64? {
    try queue.unsafeRead { try Eviction.startOfFewSurvivors(bytes: bytes, in: $0) }
  }

  /// Evicts and shrinks the file in small transactions until the limits hold.
  func trim() throws {
    while try !transaction({ try eviction.trimStep(in: $0) }) {}
    try checkpoint()
  }

  /// Copies the log into the database and truncates it, unless a reader blocks that for longer than 100 ms.
  func checkpoint() throws {
    try queue.writeWithoutTransaction { db in
      let patience = try db.integer("PRAGMA busy_timeout")
      try db.execute(sql: "PRAGMA busy_timeout = 100")
      defer { try? db.execute(sql: "PRAGMA busy_timeout = \(patience)") }
      try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
    }
  }
}
