import GRDB

/// Keeps the thumbnails and the file within their limits.
struct Eviction: Sendable {
  let limits: DiskCacheLimits
  /// More thumbnails are not copied, since writers wait meanwhile.
  private static let mostCopied = 100_000

  /// Evicts the least recently used thumbnails until the payload and the pages in use are within their limits.
  ///
  /// - Returns: Whether the limits hold. False if that takes more than `most` thumbnails.
  @discardableResult
  func evict(in db: Database, toPayload target: Int, atMost most: Int = .max) throws -> Bool {
    var removed = 0
    while removed < most {
      let pages = try db.pagesInUse()
      let payload = try Self.payload(in: db, pages: pages)
      var excess = max(payload - target, (pages - limits.pages) * DiskCacheLimits.pageSize)
      guard excess > 0 else { return true }
      let oldest = try Int.fetchCursor(
        db.cachedStatement(sql: "SELECT \(CacheTotals.count("bytes")) FROM recency ORDER BY used LIMIT ?"),
        arguments: [min(256, most - removed)])
      var count = 0
      while excess > 0, let bytes = try oldest.next() {
        excess -= bytes
        count += 1
      }
      if count == 0 { return true }
      // One statement, because each statement that fires triggers keeps copies of all pages that it changes.
      try db.run("DELETE FROM thumbnail WHERE id IN (SELECT id FROM recency ORDER BY used LIMIT ?)", [count])
      // A `recency` row without a thumbnail would be selected again and again.
      if db.changesCount < count {
        try db.execute(sql: "DELETE FROM recency WHERE id NOT IN (SELECT id FROM thumbnail)")
      }
      removed += count
    }
    return false
  }

  /// The bytes of all thumbnails. A total that exceeds the bytes of all pages is damaged and would evict everything, so
  /// it is counted again.
  private static func payload(in db: Database, pages: Int) throws -> Int {
    let payload = try CacheTotals.payload(in: db)
    guard payload > pages * DiskCacheLimits.pageSize else { return payload }
    // Damaged lengths of thumbnails cannot be added up.
    guard (try? CacheTotals.recount(in: db)) != nil else { return 0 }
    return min(try CacheTotals.payload(in: db), pages * DiskCacheLimits.pageSize)
  }

  /// Returns free pages to the file system: pages beyond the limit, and pages that the next thumbnails will not fill.
  /// Moves a limited number of pages.
  ///
  /// - Returns: Whether no more pages have to be returned.
  @discardableResult
  func giveBackPages(in db: Database) throws -> Bool {
    let free = try db.integer("PRAGMA freelist_count")
    let surplus = min(free, max(try db.integer("PRAGMA page_count") - limits.pages, free - limits.sparePages))
    guard surplus > 0 else { return true }
    try db.execute(sql: "PRAGMA incremental_vacuum(\(min(surplus, limits.vacuumPages)))")
    return surplus <= limits.vacuumPages
  }

  /// One step of shrinking the file: evicts thumbnails and returns their pages.
  ///
  /// - Returns: Whether the limits hold.
  func trimStep(in db: Database) throws -> Bool {
    try db.returnFreePagesAtCommit()
    try PageTable.evict(to: limits, in: db)
    return try evict(in: db, toPayload: limits.byteLimit, atMost: 512)
  }

  /// The `recency` number from which thumbnails take at most `bytes`, if that is less than half of all, so that copying
  /// them is faster than removing the others. Nil otherwise, and if they are so many that writers would wait for long.
  static func startOfFewSurvivors(bytes: Int, in db: Database) throws -> Int64? {
    guard try CacheTotals.payload(in: db) / 2 > bytes else { return nil }
    var kept = 0
    var count = 0
    var start = Int64.max
    let (used, length) = ("coalesce(CAST(used AS INTEGER), 0)", CacheTotals.count("bytes"))
    let rows = try Row.fetchCursor(db, sql: "SELECT \(used), \(length) FROM recency ORDER BY used DESC")
    while let row = try rows.next() {
      kept += try row.decode(Int.self, atIndex: 1)
      if kept > bytes { break }
      count += 1
      if count > mostCopied { return nil }
      start = try row.decode(Int64.self, atIndex: 0)
    }
    return start
  }
}
