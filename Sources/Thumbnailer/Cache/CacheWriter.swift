import Foundation
import GRDB

/// The transactions on the connection that writes. Used by one thread.
struct CacheWriter: Sendable {
  let queue: DatabaseQueue
  let limits: DiskCacheLimits
  let logPath: String

  /// Works on the connection of `queue` within `limits`, whose log lies at `logPath`.
  init(queue: DatabaseQueue, limits: DiskCacheLimits, logPath: String) throws {
    self.queue = queue
    self.limits = limits
    self.logPath = logPath
    // A log that grew beyond its measure is cut when it begins anew.
    try queue.writeWithoutTransaction { db in
      try db.execute(
        sql: """
          PRAGMA wal_autocheckpoint = \(limits.checkpointPages);
          PRAGMA journal_size_limit = \(limits.checkpointPages * DiskCacheLimits.pageSize)
          """)
    }
  }

  /// Makes everything in a batch last, in one transaction.
  ///
  /// Room is made before it is taken, so that new thumbnails fill the pages of the old ones and the file does not grow.
  func commit(_ batch: StagingArea.Batch) throws {
    guard batch.hasWork else { return }
    let incoming = batch.operations.reduce(0) { $0 + $1.payloadBytes(limit: limits.byteLimit) }
    try transaction { db in
      for row in batch.touched {
        try db.cachedStatement(
          sql: "UPDATE recency SET used = (SELECT max(used) + 1 FROM recency) WHERE id = ?"
        ).execute(arguments: [row])
      }
      if !batch.tally.isEmpty { try batch.tally.add(in: db) }
      try evict(in: db, toPayload: max(0, limits.byteLimit - incoming))
      for operation in batch.operations { try apply(operation, in: db) }
      try evict(in: db, toPayload: limits.byteLimit)
      try giveBackPages(in: db)
    }
  }

  /// Runs `body` in a transaction of its own.
  func transaction(_ body: (Database) throws -> Void) throws {
    try queue.writeWithoutTransaction { db in
      try db.inTransaction(.immediate) {
        try body(db)
        return .commit
      }
    }
    try shortenLog()
  }

  private func apply(_ operation: StagingArea.Operation, in db: Database) throws {
    switch operation {
    case .store(let record, let entries, _):
      // What was made of another thumbnail holds as long as that. Once the picture has left nobody knows how long.
      if record.fetchedAt == nil, try !isKnown(record.key, in: db) { return }
      var isKept = false
      for entry in entries {
        isKept = try store(entry, of: record.key, in: db) || isKept
      }
      guard isKept else { return }
      try store(record, in: db)
      if let answer = record.answer { try store(answer, of: record.key, in: db) }
    case .remove(let source):
      for table in ["thumbnail", "failure"] {
        try db.cachedStatement(sql: "DELETE FROM \(table) WHERE source = ?").execute(arguments: [source.bytes])
      }
    case .drop(let key, let row):
      try db.cachedStatement(
        sql: "DELETE FROM thumbnail WHERE source = ? AND variant = ? AND id = coalesce(?, id)"
      ).execute(arguments: [key.source.bytes, VariantTokens.shared.token(of: key.variant), row])
    case .pages(let change):
      try apply(change, in: db)
    case .note(let source, let change):
      try apply(change, of: source, in: db)
    case .removeAll, .trim, .work, .rebuild, .barrier:
      break
    }
  }

  private func isKnown(_ source: SourceKey, in db: Database) throws -> Bool {
    let rows = try db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM source WHERE key = ?)")
    return try Bool.fetchOne(rows, arguments: [source.bytes]) ?? false
  }

  /// False when the thumbnail is larger than the whole cache may be; an earlier one of its key is removed all the same.
  private func store(_ entry: CacheEntry, of source: SourceKey, in db: Database) throws -> Bool {
    let token = VariantTokens.shared.token(of: entry.variant)
    let isOversized = entry.thumbnail.data.count > limits.byteLimit
    let delete = try db.cachedStatement(sql: "DELETE FROM thumbnail WHERE source = ? AND variant = ?")
    if isOversized {
      try delete.execute(arguments: [source.bytes, token])
      return false
    }
    let thumbnail = entry.thumbnail
    let insert = try db.cachedStatement(
      sql: """
        INSERT INTO thumbnail (source, variant, width, height, format, source_width, source_height, source_format,
          source_bytes, checksum, data)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
        """)
    let arguments: StatementArguments = [
      source.bytes, token, thumbnail.size.width, thumbnail.size.height, thumbnail.format.rawValue,
      thumbnail.source.size.width, thumbnail.source.size.height, thumbnail.source.format.rawValue,
      thumbnail.source.byteCount, CacheReader.checksum(of: thumbnail, source: source), thumbnail.data,
    ]
    try insert.execute(arguments: arguments)
    if db.changesCount == 0 {
      try delete.execute(arguments: [source.bytes, token])
      try insert.execute(arguments: arguments)
    }
    return true
  }

  private func store(_ record: SourceRecord, in db: Database) throws {
    try db.cachedStatement(
      sql: """
        INSERT \(record.fetchedAt == nil ? "OR IGNORE" : "OR REPLACE") INTO source (key, location, host, fetched_at,
          etag, last_modified, cache_control, width, height, format, bytes)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """
    ).execute(arguments: [
      record.key.bytes, record.location, record.host, (record.fetchedAt ?? Date()).timeIntervalSince1970, record.etag,
      record.lastModified, record.cacheControl, record.description.size.width, record.description.size.height,
      record.description.format.rawValue, record.description.byteCount,
    ])
  }
}
