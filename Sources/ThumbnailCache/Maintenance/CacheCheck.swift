import GRDB

/// The checks and repairs of `verify`.
enum CacheCheck {
  /// SQLite's messages about damage to the file's structure, at most 20. Reads every page.
  static func structure(_ db: Database) throws -> [String] {
    try String.fetchAll(db, sql: "PRAGMA quick_check(20)").filter { $0 != "ok" }
  }

  /// The damage in a part of the thumbnails.
  struct Part: Sendable {
    /// The id of the last thumbnail of the part.
    var end: Int64
    var thumbnails = 0
    var bytes = 0
    /// The ids of thumbnails whose bytes do not match their checksum.
    var damaged: [Int64] = []
    /// Pieces without a thumbnail.
    var orphanedPieces: [Int64] = []

    /// Whether there is nothing to repair.
    var isSound: Bool { found == (0, 0) }

    /// The number of damaged thumbnails, and of pieces.
    var found: (damaged: Int, strays: Int) { (damaged.count, orphanedPieces.count) }

    /// Repairs the damage in one transaction. Returns the numbers of removed rows.
    func repair(in db: Database) throws -> (damaged: Int, strays: Int) {
      var repaired = (damaged: 0, strays: 0)
      for id in damaged where try ThumbnailTable.check(row: id, in: db)?.isDamaged == true {
        try db.run("DELETE FROM thumbnail WHERE id = ?", [id])
        repaired.damaged += 1
      }
      for id in orphanedPieces {
        try db.run("DELETE FROM piece WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM thumbnail WHERE id = ?1 >> 1)", [id])
        repaired.strays += db.changesCount
      }
      return repaired
    }
  }

  /// Checks up to `limit` thumbnails after a row, in the order of their ids. Nil if none are left.
  static func part(_ limit: Int, after start: Int64, in db: Database) throws -> Part? {
    let ids: [Int64] = try db.values("SELECT id FROM thumbnail WHERE id > ? ORDER BY id LIMIT ?", [start, limit])
    var part = Part(end: ids.last ?? start, thumbnails: ids.count)
    for id in ids {
      guard let (bytes, isDamaged) = try ThumbnailTable.check(row: id, in: db) else { continue }
      part.bytes += bytes
      if isDamaged { part.damaged.append(id) }
    }
    let present = Set(ids)
    let pieces = BlobTable.rows(after: start, through: ids.count < limit ? .max : part.end)
    let found: [Int64] = try db.values(
      "SELECT id FROM piece WHERE id BETWEEN ? AND ?", [pieces.lowerBound, pieces.upperBound])
    part.orphanedPieces = found.filter { !present.contains($0 >> 1) }
    return ids.isEmpty && part.orphanedPieces.isEmpty ? nil : part
  }

  /// Thumbnails that are missing in `recency`, or that have another length there.
  private static let untraced =
    "FROM thumbnail WHERE bytes IS NOT (SELECT bytes FROM recency WHERE recency.id = thumbnail.id)"

  private static let recencyWithoutThumbnail =
    "FROM recency WHERE NOT EXISTS (SELECT 1 FROM thumbnail WHERE thumbnail.id = recency.id)"

  /// Removes rows of `recency` without a thumbnail.
  static let recencyRepair = "DELETE \(recencyWithoutThumbnail)"

  /// Rows of one table without a counterpart in another, and their repairs. Finding them reads only short rows and
  /// indexes. A thumbnail without a source would not appear in any list.
  private static let strays =
    [
      recencyWithoutThumbnail,
      "FROM source WHERE NOT EXISTS (SELECT 1 FROM thumbnail WHERE thumbnail.source = source.id)",
      "FROM thumbnail WHERE NOT EXISTS (SELECT 1 FROM source WHERE source.id = thumbnail.source)",
    ].map { (rows: $0, repair: "DELETE \($0)") } + [
      (
        rows: untraced,
        repair: """
        INSERT INTO recency SELECT id, (SELECT coalesce(max(used), 0) + 1 FROM recency), bytes \(untraced)
        ON CONFLICT (id) DO UPDATE SET bytes = excluded.bytes
        """
      )
    ]

  /// Whether there are such rows.
  static func hasStrays(in db: Database) throws -> Bool {
    let conditions = strays.map { "EXISTS (SELECT 1 \($0.rows))" }
    return try Bool.fetchOne(db, sql: "SELECT \(conditions.joined(separator: " OR "))") ?? false
  }

  /// Removes or adds such rows and returns how many there were.
  static func repairStrays(in db: Database) throws -> Int {
    try strays.reduce(0) { count, stray in
      try db.execute(sql: stray.repair)
      return count + db.changesCount
    }
  }
}
