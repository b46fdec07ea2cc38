import Foundation
import GRDB

/// Looks for what is wrong in a cache, on a connection that only reads, and repairs it on the one that writes.
///
/// What was found is looked at once more in the transaction that repairs it: meanwhile others may have written.
enum CacheVerifier {
  /// What is wrong with a run of thumbnails.
  struct Findings: Sendable {
    /// The row of the last one.
    var end: Int64
    var thumbnails = 0
    var bytes = 0
    /// The rows whose bytes are not those that were stored.
    var damaged: [Int64] = []
    /// The rows without a trace of their use, or with a wrong length in it.
    var untraced: [Int64] = []
    /// Traces of rows that are not there.
    var traces: [Int64] = []
    /// Pieces of thumbnails that are not there.
    var pieces: [Int64] = []

    var isEmpty: Bool { damaged.isEmpty && untraced.isEmpty && traces.isEmpty && pieces.isEmpty }
  }

  /// The lines that SQLite has about the file's structure, at most 20. Reads every page.
  static func structure(_ db: Database) throws -> [String] {
    try String.fetchAll(db, sql: "PRAGMA quick_check(20)").filter { $0 != "ok" }
  }

  /// Reads up to `limit` thumbnails behind a row, in the order in which they lie in the file. In one short transaction.
  /// Nil when there are none left.
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

  /// Repairs what was found, in one transaction.
  ///
  /// - Returns: How many thumbnails were removed, and how many other rows removed or added.
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
