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

    var isEmpty: Bool { damaged.isEmpty && untraced.isEmpty && traces.isEmpty }
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
    let statement = try db.cachedStatement(
      sql: """
        SELECT \(columns), r.bytes, t.id FROM thumbnail t LEFT JOIN recency r ON r.id = t.id
        WHERE t.id > ? ORDER BY t.id LIMIT ?
        """)
    let rows = try Row.fetchCursor(statement, arguments: [start, limit])
    var findings = Findings(end: start)
    var present: Set<Int64> = []
    while let row = try rows.next() {
      let id = try row.decode(Int64.self, atIndex: 12)
      findings.end = id
      findings.thumbnails += 1
      present.insert(id)
      let length = try row.withUnsafeData(atIndex: dataIndex) { $0?.count ?? 0 }
      findings.bytes += length
      if isDamaged(row) { findings.damaged.append(id) }
      if (try? row.decode(Int.self, atIndex: 11)) != length { findings.untraced.append(id) }
    }
    let end = present.count < limit ? Int64.max : findings.end
    findings.traces = try Int64.fetchAll(
      db.cachedStatement(sql: "SELECT id FROM recency WHERE id > ? AND id <= ?"),
      arguments: [start, end]
    ).filter { !present.contains($0) }
    return present.isEmpty && findings.traces.isEmpty ? nil : findings
  }

  /// What `isDamaged` looks at.
  private static let columns = """
    t.source, t.variant, t.width, t.height, t.format, t.source_width, t.source_height, t.source_format, t.source_bytes,
    t.checksum, t.data
    """

  private static let dataIndex = 10

  /// Whether a row is not as it was stored.
  private static func isDamaged(_ row: Row) -> Bool {
    do {
      let source = try row.decode(Data.self, atIndex: 0)
      let size = PixelSize(try row.decode(atIndex: 2), try row.decode(atIndex: 3))
      let token = try row.decode(String.self, atIndex: 1)
      let isOurs = token.hasPrefix("\(Variant.encoderVersion);")
      guard source.count == 16, size.isValidThumbnailSize, !isOurs || Variant(token: token) != nil,
        ImageFormat(rawValue: try row.decode(atIndex: 4)) != nil,
        ImageFormat(rawValue: try row.decode(atIndex: 7)) != nil
      else { return true }
      // Texts are read as 0.
      for index in [5, 6, 8] where try row.decode(Int.self, atIndex: index) < 1 { return true }
      let checksum = try row.decode(Int64.self, atIndex: 9)
      let found = try row.withUnsafeData(atIndex: dataIndex) { data in
        data?.withUnsafeBytes { CacheReader.checksum(of: $0, size: size, source: SourceKey(bytes: source)) }
      }
      return found != checksum
    } catch {
      return true
    }
  }

  /// Repairs what was found, in one transaction.
  ///
  /// - Returns: How many thumbnails were removed, and how many other rows removed or added.
  static func repair(_ findings: Findings, in db: Database) throws -> (damaged: Int, strays: Int) {
    var (damaged, strays) = (0, 0)
    for id in findings.damaged {
      let row = try Row.fetchCursor(
        db.cachedStatement(sql: "SELECT \(columns) FROM thumbnail t WHERE id = ?"), arguments: [id]
      ).next()
      guard let row, isDamaged(row) else { continue }
      try db.execute(sql: "DELETE FROM thumbnail WHERE id = ?", arguments: [id])
      damaged += 1
    }
    for id in findings.untraced {
      try db.execute(
        sql: """
          INSERT INTO recency
            SELECT id, (SELECT coalesce(max(used), 0) + 1 FROM recency), length(data) FROM thumbnail WHERE id = ?
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
    return (damaged, strays)
  }
}
