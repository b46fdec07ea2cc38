import Foundation
import GRDB
import ThumbnailCore

/// The transactions on the write connection. Used by one thread.
struct CacheWriter: Sendable {
  let queue: DatabaseQueue
  let limits: DiskCacheLimits
  let logPath: String
  private let pieces = PieceWriter()

  /// Uses the connection of `queue`, keeps within `limits`; `logPath` is the path of the write-ahead log.
  init(queue: DatabaseQueue, limits: DiskCacheLimits, logPath: String) throws {
    self.queue = queue
    self.limits = limits
    self.logPath = logPath
    // A log that has grown beyond this size is truncated when it restarts.
    try queue.writeWithoutTransaction { db in
      try db.execute(
        sql: """
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
    var reports: [@Sendable () -> Void] = []
    try transaction { db in
      for row in batch.touched {
        try db.cachedStatement(
          sql: "UPDATE recency SET used = (SELECT max(used) + 1 FROM recency) WHERE id = ?"
        ).execute(arguments: [row])
      }
      if !batch.tally.isEmpty { try batch.tally.add(in: db) }
      try evict(in: db, toPayload: max(0, limits.byteLimit - incoming))
      for operation in batch.operations {
        if let report = try replaceOutdated(by: operation, in: db) { reports.append(report) }
        try apply(operation, in: db)
      }
      try evict(in: db, toPayload: limits.byteLimit)
      try giveBackPages(in: db)
    }
    for report in reports { report() }
  }

  /// Runs `body` in its own transaction.
  func transaction(_ body: (Database) throws -> Void) throws {
    try queue.writeWithoutTransaction { db in
      try db.inTransaction(.immediate) {
        try body(db)
        return .commit
      }
    }
    try shortenLog()
  }

  /// Removes the thumbnails that are of an earlier version than those about to be stored. Returns how to report that;
  /// nil if there are none.
  private func replaceOutdated(
    by operation: PendingWrites.Operation, in db: Database
  ) throws -> (@Sendable () -> Void)? {
    guard case .store(let record, _, .ifOutdated(let rule, let report), _) = operation,
      try CacheReader.history(of: record.key, in: db).isOutdated(by: record.response, rule: rule)
    else { return nil }
    try removeThumbnails(of: record.key, in: db)
    return report
  }

  private func apply(_ operation: PendingWrites.Operation, in db: Database) throws {
    switch operation {
    case .store(let record, let entries, _, _):
      // A thumbnail made from another one shares the freshness of its source. If the source is gone, that is unknown.
      let isKnown = try isKnown(record.key, in: db)
      if record.fetchedAt == nil, !isKnown { return }
      if isKnown {
        for entry in entries { try remove(CacheKey(source: record.key, variant: entry.variant), in: db) }
      }
      // A thumbnail larger than the whole limit is not stored; the one it would replace is removed all the same.
      let kept = entries.indices.filter { index in
        entries[index].thumbnail.data.count <= limits.byteLimit
          && !entries[(index + 1)...].contains { $0.variant == entries[index].variant }
      }
      guard !kept.isEmpty else { return }
      let source = try store(record, in: db)
      for index in kept { try store(entries[index], of: record.key, row: source, in: db) }
      if let response = record.response { try store(response, of: record.key, in: db) }
    case .remove(let source):
      try removeThumbnails(of: source, in: db)
    case .drop(let key, let row):
      try remove(key, row: row, in: db)
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

  /// Removes an image with its thumbnails and its history.
  private func removeThumbnails(of source: SourceKey, in db: Database) throws {
    try db.cachedStatement(
      sql: "DELETE FROM thumbnail WHERE source = (SELECT id FROM source WHERE key = ?)"
    ).execute(arguments: [source.bytes])
    try db.cachedStatement(sql: "DELETE FROM failure WHERE source = ?").execute(arguments: [source.bytes])
  }

  /// Removes a thumbnail, if it exists; with a row, only if it has that id.
  private func remove(_ key: CacheKey, row: Int64? = nil, in db: Database) throws {
    try db.cachedStatement(
      sql: """
        DELETE FROM thumbnail WHERE source = (SELECT id FROM source WHERE key = ?)
          AND variant = (SELECT id FROM variant WHERE token = ?) AND id = coalesce(?, id)
        """
    ).execute(arguments: [key.source.bytes, VariantTokens.shared.token(of: key.variant), row])
  }

  /// Inserts a new thumbnail.
  private func store(_ entry: CacheEntry, of source: SourceKey, row: Int64, in db: Database) throws {
    let token = VariantTokens.shared.token(of: entry.variant)
    let thumbnail = entry.thumbnail
    let insert = try db.cachedStatement(
      sql: """
        INSERT INTO thumbnail (source, variant, width, height, format, source_width, source_height, source_format,
          source_bytes, checksum, bytes)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)
    let variant = try variantRow(of: token, in: db)
    try insert.execute(arguments: [
      row, variant, thumbnail.size.width, thumbnail.size.height, thumbnail.format.rawValue,
      thumbnail.source.size.width, thumbnail.source.size.height, thumbnail.source.format.rawValue,
      thumbnail.source.byteCount, CacheReader.checksum(of: thumbnail, source: source), thumbnail.data.count,
    ])
    try pieces.write(thumbnail.data, of: db.lastInsertedRowID, in: db)
  }

  /// The id of a variant; inserts it if necessary.
  private func variantRow(of token: String, in db: Database) throws -> Int64 {
    let known = try db.cachedStatement(sql: "SELECT id FROM variant WHERE token = ?")
    if let row = try Int64.fetchOne(known, arguments: [token]) { return row }
    try db.execute(sql: "INSERT INTO variant (token) VALUES (?)", arguments: [token])
    return db.lastInsertedRowID
  }

  /// Stores what is known of a source and returns its id. A record of a thumbnail made from another one changes
  /// nothing.
  private func store(_ record: SourceRecord, in db: Database) throws -> Int64 {
    let change =
      record.fetchedAt == nil
      ? "id = id"
      : """
      location = excluded.location, host = excluded.host, fetched_at = excluded.fetched_at, width = excluded.width,
      height = excluded.height, format = excluded.format, bytes = excluded.bytes
      """
    let row = try Int64.fetchOne(
      db.cachedStatement(
        sql: """
          INSERT INTO source (key, location, host, fetched_at, width, height, format, bytes)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET \(change) RETURNING id
          """),
      arguments: [
        record.key.bytes, StoredLocation.shortened(record.location, host: record.host), record.host,
        (record.fetchedAt ?? Date()).timeIntervalSince1970, record.description.size.width,
        record.description.size.height, record.description.format.rawValue, record.description.byteCount,
      ])
    // A statement that returns no row has already thrown its error.
    guard let row else { throw DatabaseError(resultCode: .SQLITE_INTERNAL) }
    return row
  }
}
