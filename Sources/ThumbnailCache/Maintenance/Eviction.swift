import GRDB

/// Keeps the thumbnails and the file within their limits.
struct Eviction: Sendable {
  let limits: DiskCacheLimits

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
    try CacheTotals.payload(in: db) / 2 > bytes ? startOfSurvivors(bytes: bytes, in: db, atMost: 100_000) : nil
  }

  /// The `recency` number from which thumbnails take at most `bytes`; nil if they are more than `most` thumbnails.
  static func startOfSurvivors(bytes: Int, in db: Database, atMost most: Int = .max) throws -> Int64? {
    var kept = 0
    var count = 0
    var start = Int64.max
    let (used, length) = ("coalesce(CAST(used AS INTEGER), 0)", CacheTotals.count("bytes"))
    let rows = try Row.fetchCursor(db, sql: "SELECT \(used), \(length) FROM recency ORDER BY used DESC")
    while let row = try rows.next() {
      kept += try row.decode(Int.self, atIndex: 1)
      if kept > bytes { break }
      count += 1
      if count > most { return nil }
      start = try row.decode(Int64.self, atIndex: 0)
    }
    return start
  }
}

/// Removes all thumbnails that were last used before a given `recency` number, in an order that moves few pages of the
/// file.
///
/// The file shrinks from its end: kept pages at the end move to free pages. So thumbnails are removed from both ends
/// towards the middle: at the end all outdated ones, and at the beginning as many as are kept at the end. Rows are
/// mostly in the order of their ids. Where they are not, more pages move, but the result is the same.
struct Compaction: Sendable {
  /// The number of `recency` from which thumbnails are kept.
  private let cutoff: Int64
  /// The number of rows in one step.
  private let rows: Int
  /// The rows between these remain to be checked.
  private var low = Int64.min
  private var high = Int64.max

  init(cutoff: Int64, rows: Int) { (self.cutoff, self.rows) = (cutoff, rows) }

  /// Whether all rows were checked.
  var isDone: Bool { low >= high || cutoff == .min }

  /// Removes about `rows` thumbnails.
  mutating func step(in db: Database) throws {
    // Without the index, which would be scanned whole in each step.
    let between = "SELECT id FROM recency NOT INDEXED WHERE id > ? AND id < ?"
    let first = try Int64.fetchOne(
      db.cachedStatement(sql: "SELECT min(id) FROM (\(between) ORDER BY id DESC LIMIT ?)"),
      arguments: [low, high, rows])
    guard let first else { return high = low }
    let removed = try remove(from: first, below: high, in: db)
    high = first
    if removed >= rows { return }
    let last = try Int64.fetchOne(
      db.cachedStatement(sql: "SELECT max(id) FROM (\(between) AND used < ? ORDER BY id LIMIT ?)"),
      arguments: [low, high, cutoff, rows - removed])
    guard let last else { return high = low }
    _ = try remove(from: low + 1, below: last + 1, in: db)
    low = last
  }

  private func remove(from first: Int64, below end: Int64, in db: Database) throws -> Int {
    try db.run(
      """
      DELETE FROM thumbnail
      WHERE id IN (SELECT id FROM recency NOT INDEXED WHERE id >= ? AND id < ? AND used < ?)
      """, [first, end, cutoff])
    return db.changesCount
  }
}
