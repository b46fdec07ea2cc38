import GRDB

/// Consistency between tables: every thumbnail has a source row and every source a thumbnail, and totals match what
/// they count.
extension CacheVerifier {
  private static let picturesWithoutThumbnail =
    "FROM source WHERE NOT EXISTS (SELECT 1 FROM thumbnail WHERE thumbnail.source = source.id)"
  private static let thumbnailsWithoutPicture =
    "FROM thumbnail WHERE NOT EXISTS (SELECT 1 FROM source WHERE source.id = thumbnail.source)"

  /// Whether there are orphaned rows. Reads indexes only.
  static func hasStrays(_ db: Database) throws -> Bool {
    try Bool.fetchOne(
      db, sql: "SELECT EXISTS (SELECT 1 \(picturesWithoutThumbnail)) OR EXISTS (SELECT 1 \(thumbnailsWithoutPicture))"
    ) ?? false
  }

  /// Removes orphaned rows and returns how many there were. A thumbnail without a source would not appear in any list.
  static func removeStrays(in db: Database) throws -> Int {
    try db.execute(sql: "DELETE \(picturesWithoutThumbnail)")
    let pictures = db.changesCount
    try db.execute(sql: "DELETE \(thumbnailsWithoutPicture)")
    return pictures + db.changesCount
  }

  /// The stored totals, for comparison with a new count.
  private struct Totals: Equatable {
    struct Group: Hashable {
      let variant: Int64
      let format: String
    }
    struct Sum: Equatable {
      var thumbnails = 0
      var bytes = 0
    }

    var payload = 0
    var census: [Group: Sum] = [:]

    /// Reads the stored totals.
    init(keptIn db: Database) throws {
      payload = try Int.fetchOne(db, sql: "SELECT payload FROM total") ?? 0
      let rows = try Row.fetchCursor(db, sql: "SELECT variant, format, thumbnails, bytes FROM census")
      while let row = try rows.next() {
        let group = Group(variant: try row.decode(atIndex: 0), format: try row.decode(atIndex: 1))
        census[group] = Sum(thumbnails: try row.decode(atIndex: 2), bytes: try row.decode(atIndex: 3))
      }
    }

    /// Counts the thumbnails.
    init(countedIn db: Database) throws {
      let rows = try Row.fetchCursor(db, sql: "SELECT variant, format, bytes FROM thumbnail")
      while let row = try rows.next() {
        let group = Group(variant: try row.decode(atIndex: 0), format: try row.decode(atIndex: 1))
        let bytes = try row.decode(Int.self, atIndex: 2)
        payload += bytes
        census[group, default: Sum()].thumbnails += 1
        census[group, default: Sum()].bytes += bytes
      }
    }
  }

  /// Whether the totals are wrong. Uses one read transaction, which does not block writers.
  static func hasWrongTotals(_ db: Database) throws -> Bool {
    var isWrong = false
    try db.inTransaction(.deferred) {
      isWrong = (try? Totals(keptIn: db)) != (try Totals(countedIn: db))
      return .commit
    }
    return isWrong
  }

  /// Recounts the totals and stores them if they differ. Blocks writers: half a second with 100,000 thumbnails.
  ///
  /// - Returns: Whether anything was repaired.
  static func repairTotals(in db: Database) throws -> Bool {
    let counted = try Totals(countedIn: db)
    guard (try? Totals(keptIn: db)) != counted else { return false }
    try db.execute(sql: "UPDATE total SET payload = ?; DELETE FROM census", arguments: [counted.payload])
    for (group, sum) in counted.census {
      try db.execute(
        sql: "INSERT INTO census VALUES (?, ?, ?, ?)",
        arguments: [group.variant, group.format, sum.thumbnails, sum.bytes])
    }
    return true
  }
}
