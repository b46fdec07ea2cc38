import Foundation
import GRDB
import Synchronization
import ThumbnailCore

/// The thumbnails and their images: the tables `source`, `variant` and `thumbnail`. The bytes are in `BlobTable`.
enum ThumbnailTable {
  /// The result of a look-up.
  enum Outcome {
    case hit(Thumbnail, row: Int64)
    case miss
    /// The row exists, but the bytes do not match the checksum.
    case damaged(row: Int64)
  }

  /// Reads one thumbnail and verifies its checksum.
  ///
  /// A single statement without a transaction: in WAL mode it sees the last commit. The bytes are copied once, from
  /// SQLite's pages into the returned `Data`.
  static func thumbnail(for key: CacheKey, in db: Database) throws -> Outcome {
    let rows = try db.rows(
      """
      SELECT t.id, t.width, t.height, t.format, t.source_width, t.source_height, t.source_format, t.source_bytes,
        t.checksum, p.data, t.placeholder, t.source_preview
      FROM source s JOIN thumbnail t ON t.source = s.id LEFT JOIN piece p ON p.id BETWEEN 2 * t.id AND 2 * t.id + 1
      WHERE s.key = ? AND t.variant = (SELECT id FROM variant WHERE token = ?) ORDER BY p.id
      """, [key.source.bytes, key.variant.knownToken])
    guard let row = try rows.next() else { return .miss }
    let id = try row.decode(Int64.self, atIndex: 0)
    guard let (thumbnail, expected) = try decode(row, rows),
      checksum(of: thumbnail, source: key.source) == expected
    else { return .damaged(row: id) }
    return .hit(thumbnail, row: id)
  }

  /// Decodes one thumbnail and its checksum from its first row and the further rows, which have the rest of its bytes.
  /// Nil if a value is invalid.
  private static func decode(_ row: Row, _ rows: RowCursor) throws -> (Thumbnail, checksum: Int64)? {
    guard var thumbnail = try? thumbnail(in: row), let checksum = try? row.decode(Int64.self, atIndex: 8) else {
      return nil
    }
    while let rest = try rows.next() {
      try? rest.withUnsafeData(atIndex: 9) { if let data = $0 { thumbnail.data.append(data) } }
    }
    return (thumbnail, checksum)
  }

  private static func thumbnail(in row: Row) throws -> Thumbnail? {
    var source = try row.sourceDescription(at: 4)
    source.preview = try row.decode(String?.self, atIndex: 11).flatMap { UsedPreview(rawValue: $0) }
    // These values are not part of the checksum.
    guard source.size.width > 0, source.size.height > 0, source.byteCount > 0 else { return nil }
    return Thumbnail(
      data: try row.decode(atIndex: 9), size: try row.size(at: 1), format: try row.format(at: 3), source: source,
      placeholder: row.placeholder(at: 10))
  }

  /// The stored variants of a source, except those of other encoder versions.
  static func variants(of source: SourceKey, in db: Database) throws -> [Variant] {
    let tokens: [String?] = try String?.fetchAll(
      db.cachedStatement(
        sql: """
          SELECT v.token FROM source s JOIN thumbnail t ON t.source = s.id JOIN variant v ON v.id = t.variant
          WHERE s.key = ?
          """), arguments: [source.bytes])
    return tokens.compactMap { $0.flatMap { Variant(token: $0) } }
  }

  /// Whether anything of a source is stored.
  static func hasSource(_ source: SourceKey, in db: Database) throws -> Bool {
    try db.value("SELECT EXISTS (SELECT 1 FROM source WHERE key = ?)", [source.bytes]) ?? false
  }

  /// Stores the record of a source and returns its id. The record of a thumbnail that was made from another one changes
  /// nothing.
  static func put(_ record: SourceRecord, in db: Database) throws -> Int64 {
    let change =
      record.fetchedAt == nil
      ? "id = id"
      : """
      location = excluded.location, host = excluded.host, fetched_at = excluded.fetched_at, width = excluded.width,
      height = excluded.height, format = excluded.format, bytes = excluded.bytes
      """
    let row: Int64? = try db.value(
      """
      INSERT INTO source (key, location, host, fetched_at, width, height, format, bytes)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET \(change) RETURNING id
      """,
      [
        record.key.bytes, SourceRecord.stored(record.location, host: record.host), record.host,
        (record.fetchedAt ?? Date()).timeIntervalSince1970, record.description.size.width,
        record.description.size.height, record.description.format.rawValue, record.description.byteCount,
      ])
    // A statement that returns no row has already thrown its error.
    guard let row else { throw DatabaseError(resultCode: .SQLITE_INTERNAL) }
    return row
  }

  /// Inserts a new thumbnail of the source with this id.
  static func insert(
    _ entry: CacheEntry, of source: SourceKey, row: Int64, _ space: inout PageSpace, in db: Database
  ) throws {
    let thumbnail = entry.thumbnail
    let variant = try variantRow(of: entry.variant.knownToken, in: db)
    try db.run(
      """
      INSERT INTO thumbnail (source, variant, width, height, format, source_width, source_height, source_format,
        source_bytes, checksum, bytes, placeholder, source_preview)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        row, variant, thumbnail.size.width, thumbnail.size.height, thumbnail.format.rawValue,
        thumbnail.source.size.width, thumbnail.source.size.height, thumbnail.source.format.rawValue,
        thumbnail.source.byteCount, checksum(of: thumbnail, source: source), thumbnail.data.count,
        thumbnail.placeholder?.bytes, thumbnail.source.preview?.rawValue,
      ])
    let id = db.lastInsertedRowID
    try BlobTable.insert(thumbnail.data, of: id, &space, in: db)
  }

  /// The id of a variant; inserts it if necessary.
  private static func variantRow(of token: String, in db: Database) throws -> Int64 {
    if let row: Int64 = try db.value("SELECT id FROM variant WHERE token = ?", [token]) { return row }
    try db.run("INSERT INTO variant (token) VALUES (?)", [token])
    return db.lastInsertedRowID
  }

  /// Removes a thumbnail, if it exists and has the given row id, if any.
  static func remove(_ key: CacheKey, row: Int64? = nil, in db: Database) throws {
    try db.run(
      """
      DELETE FROM thumbnail WHERE source = (SELECT id FROM source WHERE key = ?)
        AND variant = (SELECT id FROM variant WHERE token = ?) AND id = coalesce(?, id)
      """, [key.source.bytes, key.variant.knownToken, row])
  }

  /// Removes all thumbnails of a source, and thus the source.
  static func removeAll(of source: SourceKey, in db: Database) throws {
    try db.run("DELETE FROM thumbnail WHERE source = (SELECT id FROM source WHERE key = ?)", [source.bytes])
  }

  /// The stored checksum of a thumbnail, over its bytes, size and source. It detects flipped bits, and an index that
  /// leads to the wrong row.
  private static func checksum(of thumbnail: Thumbnail, source: SourceKey) -> Int64 {
    let seed = source.low ^ UInt64(truncatingIfNeeded: thumbnail.size.width << 32 ^ thumbnail.size.height)
    return Int64(bitPattern: thumbnail.data.withUnsafeBytes { Checksum.xxh64($0, seed: seed) })
  }
}

/// The tokens of the variants in use, because building one takes more than a quarter of a disk hit.
private let tokens = Mutex<[(variant: Variant, token: String)]>([])

extension Variant {
  /// The token, found by comparison, because hashing a variant takes as long as building its token.
  fileprivate var knownToken: String {
    tokens.withLock { tokens in
      if let known = tokens.first(where: { $0.variant == self }) { return known.token }
      if tokens.count == 64 { tokens.removeAll() }
      tokens.append((self, token))
      return tokens[tokens.count - 1].token
    }
  }
}
