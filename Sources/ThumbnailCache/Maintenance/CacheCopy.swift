import Foundation
import GRDB

/// Copies the most recently used thumbnails into a new file, which is faster than removing all others from the old
/// file.
enum CacheCopy {
  /// Creates the tables of an empty file, and copies into them the thumbnails used since `start`, least recently used
  /// first, with their sources and all search pages. No other connection uses the file, and an incomplete copy is
  /// useless, so the file has no log until it is complete.
  static func fill(_ db: Database, from path: String, since start: Int64) throws {
    try DiskCacheSchema.create(in: db)
    try db.execute(sql: "PRAGMA journal_mode = OFF; PRAGMA cache_size = -16000")
    try copy(from: path, since: start, into: db)
    try db.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA wal_checkpoint(TRUNCATE)")
  }

  private static func copy(from path: String, since start: Int64, into db: Database) throws {
    try db.execute(sql: "ATTACH ? AS old", arguments: [path])
    defer { try? db.execute(sql: "DETACH old") }
    try copy("variant", into: db)
    var space = PageSpace()
    var start = start
    while let end = try Int64.fetchOne(
      db,
      sql: "SELECT max(used) FROM (SELECT used FROM old.recency WHERE used >= ? ORDER BY used LIMIT 1024)",
      arguments: [start])
    {
      // An immediate transaction would lock the old file, too.
      try db.inTransaction(.deferred) {
        try copyThumbnails(usedFrom: start, to: end, into: db, &space)
        return .commit
      }
      start = end + 1
    }
    try copy("source", where: "id IN (SELECT source FROM main.thumbnail)", into: db)
    try copy("freshness", where: "source IN (SELECT id FROM main.source)", into: db)
    for table in ["failure", "listing_page", "listing_photo"] { try copy(table, into: db) }
  }

  /// Copies the columns that this program knows.
  private static func copy(_ table: String, where condition: String = "TRUE", into db: Database) throws {
    let names = try columns(of: table, in: db)
    try db.execute(
      sql: "INSERT OR REPLACE INTO \(table) (\(names)) SELECT \(names) FROM old.\(table) WHERE \(condition)")
  }

  private static func columns(of table: String, except: Set<String> = [], in db: Database) throws -> String {
    try db.columns(in: table).map(\.name).filter { !except.contains($0) }.joined(separator: ", ")
  }

  /// Copies thumbnails with new ids, so that their pieces are appended.
  private static func copyThumbnails(
    usedFrom start: Int64, to end: Int64, into db: Database, _ space: inout PageSpace
  ) throws {
    let names = try columns(of: "thumbnail", except: ["id"], in: db)
    let insert = try db.cachedStatement(
      sql: "INSERT OR IGNORE INTO thumbnail (\(names)) SELECT \(names) FROM old.thumbnail WHERE id = ?")
    let read = try db.cachedStatement(
      sql: "SELECT data FROM old.piece p WHERE p.id BETWEEN 2 * ?1 AND 2 * ?1 + 1 ORDER BY p.id")
    let rows = try Int64.fetchAll(
      db, sql: "SELECT id FROM old.recency WHERE used BETWEEN ? AND ? ORDER BY used", arguments: [start, end])
    for row in rows {
      let bytes = try Data.fetchAll(read, arguments: [row]).reduce(into: Data()) { $0.append($1) }
      try insert.execute(arguments: [row])
      guard db.changesCount > 0 else { continue }
      try BlobTable.insert(bytes, of: db.lastInsertedRowID, &space, in: db)
    }
  }
}
