import Foundation
import GRDB

/// Checks a cache for damage on a read connection, and repairs it on the write connection.
///
/// Findings are checked again in the transaction that repairs them, since others may have written meanwhile.
enum CacheVerifier {
  /// What is wrong with a batch of thumbnails.
  struct Findings: Sendable {
    /// The id of the last one.
    var end: Int64
    var thumbnails = 0
    var bytes = 0
    /// The ids of thumbnails whose bytes do not match their checksum.
    var damaged: [Int64] = []
    /// The ids of thumbnails without a `recency` row, or with a wrong length in it.
    var untraced: [Int64] = []
    /// `recency` rows without a thumbnail.
    var traces: [Int64] = []
    /// Pieces without a thumbnail.
    var pieces: [Int64] = []

    var isEmpty: Bool { damaged.isEmpty && untraced.isEmpty && traces.isEmpty && pieces.isEmpty }
  }

  /// SQLite's messages about damage to the file's structure, at most 20. Reads every page.
  static func structure(_ db: Database) throws -> [String] {
    try String.fetchAll(db, sql: "PRAGMA quick_check(20)").filter { $0 != "ok" }
  }

  /// Checks up to `limit` thumbnails after a row, in the order of their ids, in one short transaction. Nil when none
  /// are left.
  static func check(_ limit: Int, after start: Int64, in db: Database) throws -> Findings? {
    var findings: Findings?
    try db.inTransaction(.deferred) {
      findings = try checkRows(limit, after: start, in: db)
      return .commit
    }
    return findings
  }

  private static func checkRows(_ limit: Int, after start: Int64, in db: Database) throws -> Findings? {
    let numbers = try Int64.fetchAll(
      db.cachedStatement(sql: "SELECT id FROM thumbnail WHERE id > ? ORDER BY id LIMIT ?"), arguments: [start, limit])
    var findings = Findings(end: numbers.last ?? start)
    let statement = try db.cachedStatement(
      sql:
        "SELECT \(ThumbnailReading.columns) \(ThumbnailReading.tables) WHERE t.id > ? AND t.id <= ? ORDER BY t.id, p.id"
    )
    var reading = try ThumbnailReading(Row.fetchCursor(statement, arguments: [start, findings.end]))
    while let state = try reading.next() {
      findings.thumbnails += 1
      findings.bytes += state.length
      if state.isDamaged { findings.damaged.append(state.row) }
      if !state.isTraced { findings.untraced.append(state.row) }
    }
    let present = Set(numbers)
    let end = present.count < limit ? Int64.max : findings.end
    findings.traces = try Int64.fetchAll(
      db.cachedStatement(sql: "SELECT id FROM recency WHERE id > ? AND id <= ?"),
      arguments: [start, end]
    ).filter { !present.contains($0) }
    let rows = CachePieces.rows(after: start, through: end)
    findings.pieces = try Int64.fetchAll(
      db.cachedStatement(sql: "SELECT id FROM piece WHERE id >= ? AND id <= ?"),
      arguments: [rows.lowerBound, rows.upperBound]
    ).filter { !present.contains($0 >> 1) }
    return present.isEmpty && findings.traces.isEmpty && findings.pieces.isEmpty ? nil : findings
  }

  /// Repairs the findings in one transaction.
  ///
  /// - Returns: The number of thumbnails removed, and of other rows removed or added.
  static func repair(_ findings: Findings, in db: Database) throws -> (damaged: Int, strays: Int) {
    var (damaged, strays) = (0, 0)
    for id in findings.damaged {
      var reading = try ThumbnailReading(
        Row.fetchCursor(
          db.cachedStatement(
            sql: "SELECT \(ThumbnailReading.columns) \(ThumbnailReading.tables) WHERE t.id = ? ORDER BY p.id"),
          arguments: [id]))
      guard try reading.next()?.isDamaged == true else { continue }
      try db.execute(sql: "DELETE FROM thumbnail WHERE id = ?", arguments: [id])
      damaged += 1
    }
    for id in findings.untraced {
      try db.execute(
        sql: """
          INSERT INTO recency
            SELECT id, (SELECT coalesce(max(used), 0) + 1 FROM recency), bytes FROM thumbnail WHERE id = ?
            ON CONFLICT (id) DO UPDATE SET bytes = excluded.bytes WHERE bytes <> excluded.bytes
          """, arguments: [id])
      strays += db.changesCount
    }
    for id in findings.traces {
      try db.execute(
        sql: "DELETE FROM recency WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM thumbnail WHERE id = ?1)", arguments: [id]
      )
      strays += db.changesCount
    }
    for id in findings.pieces {
      try db.execute(
        sql: "DELETE FROM piece WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM thumbnail WHERE id = ?1 >> 1)",
        arguments: [id])
      strays += db.changesCount
    }
    return (damaged, strays)
  }
}
