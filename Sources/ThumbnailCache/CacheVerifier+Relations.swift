import GRDB

/// What holds between tables: every thumbnail has its picture's row and every such row a thumbnail, and totals are the
/// sums of what they count.
extension CacheVerifier {
  private static let picturesWithoutThumbnail =
    "FROM source WHERE NOT EXISTS (SELECT 1 FROM thumbnail WHERE thumbnail.source = source.id)"
  private static let thumbnailsWithoutPicture =
    "FROM thumbnail WHERE NOT EXISTS (SELECT 1 FROM source WHERE source.id = thumbnail.source)"

  /// Whether there are rows that belong to nothing. Reads indexes alone.
  static func hasStrays(_ db: Database) throws -> Bool {
    try Bool.fetchOne(
      db, sql: "SELECT EXISTS (SELECT 1 \(picturesWithoutThumbnail)) OR EXISTS (SELECT 1 \(thumbnailsWithoutPicture))"
    ) ?? false
  }

  /// Removes them, and returns how many there were. A thumbnail that nothing is known of would be in no list.
  static func removeStrays(in db: Database) throws -> Int {
    try db.execute(sql: "DELETE \(picturesWithoutThumbnail)")
    let pictures = db.changesCount
    try db.execute(sql: "DELETE \(thumbnailsWithoutPicture)")
    return pictures + db.changesCount
  }

  /// The sums that are kept, counted anew.
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

    /// Reads what is kept.
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

  /// Whether the totals are wrong. In one transaction, which keeps nobody from writing.
  static func hasWrongTotals(_ db: Database) throws -> Bool {
    var isWrong = false
    try db.inTransaction(.deferred) {
      isWrong = (try? Totals(keptIn: db)) != (try Totals(countedIn: db))
      return .commit
    }
    return isWrong
  }

  /// Counts anew and keeps that, where it is not what is kept. Others wait for it: half a second with 100,000 thumbnails.
  ///
  /// - Returns: Whether there was anything to do.
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
