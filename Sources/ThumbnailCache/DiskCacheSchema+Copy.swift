import Foundation
import GRDB

/// Copying from one file into another.
extension DiskCacheSchema {
  /// Copies the thumbnails used since `start`, least recently used first, with their sources, into the empty tables of
  /// `db`. Small transactions keep the log short.
  ///
  /// From a damaged file, the readable rows are copied; if a batch fails, one row at a time.
  static func copy(from path: String, since start: Int64, into db: Database) throws {
    try db.execute(sql: "ATTACH ? AS old", arguments: [path])
    defer { try? db.execute(sql: "DETACH old") }
    try whereReadable { try inTransaction(db) { try copy("variant", into: db) } }
    let pieces = PieceWriter()
    var start = start
    while let end = try Int64.fetchOne(
      db,
      sql: "SELECT max(used) FROM (SELECT used FROM old.recency WHERE used >= ? ORDER BY used LIMIT 256)",
      arguments: [start])
    {
      if try !copyThumbnails(usedFrom: start, to: end, into: db, pieces) {
        let uses = try Int64.fetchAll(
          db, sql: "SELECT used FROM old.recency WHERE used BETWEEN ? AND ? ORDER BY used", arguments: [start, end])
        for use in uses { _ = try copyThumbnails(usedFrom: use, to: use, into: db, pieces) }
      }
      start = end + 1
    }
    try copySources(into: db)
    try whereReadable {
      try inTransaction(db) { try copy("freshness", where: "source IN (SELECT id FROM main.source)", into: db) }
    }
    for table in ["failure", "tally", "listing_page", "listing_photo"] {
      try whereReadable { try inTransaction(db) { try copy(table, into: db) } }
    }
  }

  private static func copy(_ table: String, where condition: String = "TRUE", into db: Database) throws {
    let names = try columns(of: table, in: db)
    try db.execute(
      sql: "INSERT OR REPLACE INTO \(table) (\(names)) SELECT \(names) FROM old.\(table) WHERE \(condition)")
  }

  private static func columns(of table: String, except: Set<String> = [], in db: Database) throws -> String {
    try db.columns(in: table).map(\.name).filter { !except.contains($0) }.joined(separator: ", ")
  }

  /// False when one of them cannot be read; then none is copied. They get new ids, so that their pieces are appended.
  private static func copyThumbnails(
    usedFrom start: Int64, to end: Int64, into db: Database, _ pieces: PieceWriter
  ) throws -> Bool {
    let names = try columns(of: "thumbnail", except: ["id"], in: db)
    let insert = try db.cachedStatement(
      sql: "INSERT OR IGNORE INTO thumbnail (\(names)) SELECT \(names) FROM old.thumbnail WHERE id = ?")
    let read = try db.cachedStatement(
      sql: "SELECT data FROM old.piece p WHERE p.id BETWEEN 2 * ?1 AND 2 * ?1 + 1 ORDER BY p.id")
    return try whereReadable {
      try inTransaction(db) {
        let rows = try Int64.fetchAll(
          db, sql: "SELECT id FROM old.recency WHERE used BETWEEN ? AND ? ORDER BY used", arguments: [start, end])
        for row in rows {
          let bytes = try Data.fetchAll(read, arguments: [row]).reduce(into: Data()) { $0.append($1) }
          try insert.execute(arguments: [row])
          if db.changesCount > 0 { try pieces.write(bytes, of: db.lastInsertedRowID, in: db) }
        }
      }
    }
  }

  private static func copySources(into db: Database) throws {
    let names = try columns(of: "source", in: db)
    let copying = "INSERT INTO source (\(names)) SELECT \(names) FROM old.source WHERE id"
    let areWhole = try whereReadable {
      try inTransaction(db) { try db.execute(sql: "\(copying) IN (SELECT source FROM main.thumbnail)") }
    }
    if areWhole { return }
    for row in try DatabaseValue.fetchAll(db, sql: "SELECT DISTINCT source FROM thumbnail") {
      try whereReadable {
        try db.execute(sql: "\(copying) = ?", arguments: [row])
      }
    }
  }

  private static func inTransaction(_ db: Database, _ body: () throws -> Void) throws {
    try db.inTransaction(.immediate) {
      try body()
      return .commit
    }
  }

  /// Runs `body`; false if what it reads is damaged.
  @discardableResult
  private static func whereReadable(_ body: () throws -> Void) throws -> Bool {
    do {
      try body()
      return true
    } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
      return false
    }
  }
}
