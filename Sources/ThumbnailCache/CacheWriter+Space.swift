import Foundation
import GRDB

/// Enforcing the limits.
extension CacheWriter {
  /// Evicts the least recently used thumbnails until the payload and the pages in use are within their limits.
  ///
  /// - Returns: Whether they are; false when that would have taken more than `most` thumbnails.
  @discardableResult
  func evict(in db: Database, toPayload target: Int, atMost most: Int = .max) throws -> Bool {
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
          // A `recency` row without a thumbnail would be picked for ever.
          try db.execute(sql: "DELETE FROM recency WHERE id = ?", arguments: [id])
        }
        removed += 1
        excess -= try row.decode(Int.self, atIndex: 1)
      }
    }
    return false
  }

  /// Returns free pages to the file system: those beyond the limit, and those that the next thumbnails will not fill.
  /// Moves a limited number of pages.
  ///
  /// - Returns: Whether none is left to return.
  @discardableResult
  func giveBackPages(in db: Database) throws -> Bool {
    let free = try integer("PRAGMA freelist_count", in: db)
    let pages = try integer("PRAGMA page_count", in: db)
    let surplus = min(free, max(pages - limits.pages, free - limits.sparePages))
    guard surplus > 0 else { return true }
    try db.execute(sql: "PRAGMA incremental_vacuum(\(min(surplus, limits.vacuumPages)))")
    return surplus <= limits.vacuumPages
  }

  /// Evicts and shrinks the file, alternately and in small transactions, until the limits hold.
  ///
  /// Alternately, because SQLite searches the whole list of free pages for each page it returns.
  func trim() throws {
    var isDone = false
    while !isDone {
      try transaction { db in
        try evictPages(in: db)
        let isEvicted = try evict(in: db, toPayload: limits.byteLimit, atMost: 512)
        isDone = try giveBackPages(in: db) && isEvicted
      }
    }
    try checkpoint()
  }

  /// The `recency` number from which thumbnails fit into the limit, if they are less than half, so that copying them is
  /// faster than removing the others. Nil otherwise.
  func startOfFewSurvivors() throws -> Int64? {
    try queue.unsafeRead { db in
      let payload = try integer("SELECT payload FROM total", in: db)
      guard payload / 2 > limits.byteLimit else { return nil }
      var kept = 0
      var start = Int64.max
      let rows = try Row.fetchCursor(db, sql: "SELECT used, bytes FROM recency ORDER BY used DESC")
      while let row = try rows.next() {
        kept += try row.decode(Int.self, atIndex: 1)
        if kept > limits.byteLimit { break }
        start = try row.decode(Int64.self, atIndex: 0)
      }
      return start
    }
  }

  /// Copies the log into the database and truncates it, unless a reader blocks that for longer than 100 ms.
  func checkpoint() throws {
    try queue.writeWithoutTransaction { db in
      let patience = try integer("PRAGMA busy_timeout", in: db)
      try db.execute(sql: "PRAGMA busy_timeout = 100")
      defer { try? db.execute(sql: "PRAGMA busy_timeout = \(patience)") }
      try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
    }
  }

  /// Continuous readers prevent the automatic checkpoint from restarting the log. When it has grown too long, this
  /// waits for them.
  func shortenLog() throws {
    var status = stat()
    if stat(logPath, &status) == 0, Int(status.st_size) > limits.logBytes { try checkpoint() }
  }

  func integer(_ sql: String, in db: Database) throws -> Int {
    try Int.fetchOne(db.cachedStatement(sql: sql)) ?? 0
  }
}
