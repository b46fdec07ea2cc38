import Foundation
import GRDB

/// The transactions on the connection that writes. Used by one thread.
struct CacheWriter: Sendable {
  private let queue: DatabaseQueue
  private let limits: DiskCacheLimits
  private let logPath: String

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
      try evict(in: db, toPayload: max(0, limits.byteLimit - incoming))
      for operation in batch.operations { try apply(operation, in: db) }
      try evict(in: db, toPayload: limits.byteLimit)
      try giveBackPages(in: db, sparing: limits.sparePages)
    }
  }

  /// Evicts and shrinks the file, in small transactions, until both limits hold.
  func trim() throws {
    try repeatUntilDone(sparePages: limits.sparePages) { db in
      try evict(in: db, toPayload: limits.byteLimit, atMost: 512)
    }
  }

  /// Removes everything that is there now, in small transactions; what other processes add meanwhile stays.
  func removeAll() throws {
    let newest = try queue.unsafeRead { try Int64.fetchOne($0, sql: "SELECT max(used) FROM recency") }
    guard let newest else { return }
    try repeatUntilDone(sparePages: 0) { db in
      try db.execute(
        sql: """
          DELETE FROM thumbnail WHERE id IN (SELECT id FROM recency WHERE used <= ? ORDER BY used LIMIT 512)
          """, arguments: [newest])
      return db.changesCount == 0
    }
  }

  private func repeatUntilDone(sparePages: Int, _ step: (Database) throws -> Bool) throws {
    var isDone = false
    while !isDone {
      try transaction { db in
        let isEvicted = try step(db)
        isDone = try giveBackPages(in: db, sparing: sparePages) && isEvicted
      }
    }
    try checkpoint()
  }

  private func transaction(_ body: (Database) throws -> Void) throws {
    try queue.writeWithoutTransaction { db in
      try db.inTransaction(.immediate) {
        try body(db)
        return .commit
      }
    }
    // Readers that never pause keep the automatic checkpoint from beginning the log anew. This one waits for them.
    var status = stat()
    if stat(logPath, &status) == 0, Int(status.st_size) > limits.logBytes { try checkpoint() }
  }

  /// Copies the log into the database and empties it.
  func checkpoint() throws {
    // Another process may read for longer than we wait: the next commit tries again.
    try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
  }

  private func apply(_ operation: StagingArea.Operation, in db: Database) throws {
    switch operation {
    case .store(let record, let entries, _):
      var isKept = false
      for entry in entries {
        isKept = try store(entry, of: record.key, in: db) || isKept
      }
      if isKept { try store(record, in: db) }
    case .remove(let source):
      try db.cachedStatement(sql: "DELETE FROM thumbnail WHERE source = ?").execute(arguments: [source.bytes])
    case .drop(let key, let row):
      try db.cachedStatement(
        sql: "DELETE FROM thumbnail WHERE source = ? AND variant = ? AND id = coalesce(?, id)"
      ).execute(arguments: [key.source.bytes, VariantTokens.shared.token(of: key.variant), row])
    case .removeAll, .trim, .barrier:
      break
    }
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
        INSERT OR REPLACE INTO source (key, location, host, fetched_at, etag, last_modified, cache_control, width,
          height, format, bytes)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """
    ).execute(arguments: [
      record.key.bytes, record.location, record.host, record.fetchedAt.timeIntervalSince1970, record.etag,
      record.lastModified, record.cacheControl, record.description.size.width, record.description.size.height,
      record.description.format.rawValue, record.description.byteCount,
    ])
  }

  /// Removes the least recently used thumbnails until the payload and the pages in use are within their limits.
  ///
  /// - Returns: Whether they are; false when that would have taken more than `most` thumbnails.
  @discardableResult
  private func evict(in db: Database, toPayload target: Int, atMost most: Int = .max) throws -> Bool {
    var removed = 0
    while removed < most {
      let payload = try integer("SELECT payload FROM total", in: db)
      let pages = try integer("PRAGMA page_count", in: db) - integer("PRAGMA freelist_count", in: db)
      var excess = max(payload - target, (pages - limits.pages) * DiskCacheLimits.pageSize)
      guard excess > 0 else { return true }
      let oldest = try Row.fetchAll(
        db.cachedStatement(sql: "SELECT id, bytes FROM recency ORDER BY used LIMIT ?"),
        arguments: [min(256, most - removed)])
      guard !oldest.isEmpty else { return true }
      let delete = try db.cachedStatement(sql: "DELETE FROM thumbnail WHERE id = ?")
      for row in oldest where excess > 0 {
        let id = try row.decode(Int64.self, atIndex: 0)
        try delete.execute(arguments: [id])
        if db.changesCount == 0 {
          // A trace without a thumbnail would be evicted for ever.
          try db.execute(sql: "DELETE FROM recency WHERE id = ?", arguments: [id])
        }
        removed += 1
        excess -= try row.decode(Int.self, atIndex: 1)
      }
    }
    return false
  }

  /// Gives free pages back to the file system: all that are beyond the limit, and those beyond the `spare` ones that the
  /// next thumbnails will fill. A transaction moves a limited number of pages.
  ///
  /// - Returns: Whether none is left to give back.
  @discardableResult
  private func giveBackPages(in db: Database, sparing spare: Int) throws -> Bool {
    let free = try integer("PRAGMA freelist_count", in: db)
    let pages = try integer("PRAGMA page_count", in: db)
    let surplus = min(free, max(pages - limits.pages, free - spare))
    guard surplus > 0 else { return true }
    try db.execute(sql: "PRAGMA incremental_vacuum(\(min(surplus, limits.vacuumPages)))")
    return surplus <= limits.vacuumPages
  }

  private func integer(_ sql: String, in db: Database) throws -> Int {
    try Int.fetchOne(db.cachedStatement(sql: sql)) ?? 0
  }
}
