import Foundation
import GRDB
import Synchronization
import ThumbnailCore

/// One read-only connection. Calls block for tens of microseconds and may come from any thread.
struct CacheReader: Sendable {
  /// The result of a look-up.
  enum Outcome {
    case hit(Thumbnail, row: Int64)
    case miss
    /// The row exists, but its bytes do not match their checksum.
    case damaged(row: Int64)
  }

  private let queue: DatabaseQueue

  init(queue: DatabaseQueue) { self.queue = queue }

  /// Reads one thumbnail and verifies its checksum.
  ///
  /// A single statement without a transaction: in WAL mode it sees the last commit. The bytes are copied once, from
  /// SQLite's pages into the returned `Data`.
  func thumbnail(for key: CacheKey) throws -> Outcome {
    let token = VariantTokens.shared.token(of: key.variant)
    return try queue.unsafeRead { db in
      let statement = try db.cachedStatement(
        sql: """
          SELECT \(Self.columns) FROM source s JOIN thumbnail t ON t.source = s.id \(Self.pieces)
          WHERE s.key = ? AND t.variant = (SELECT id FROM variant WHERE token = ?) ORDER BY p.id
          """)
      return try Self.outcome(
        Row.fetchCursor(statement, arguments: [key.source.bytes, token]), source: key.source)
    }
  }

  private static let columns = """
    t.id, t.width, t.height, t.format, t.source_width, t.source_height, t.source_format, t.source_bytes, t.checksum,
    p.data
    """
  private static let pieces = "LEFT JOIN piece p ON \(CachePieces.ofThumbnail)"

  /// Decodes the rows of one thumbnail. A cursor's row is in SQLite's memory, so only what is decoded is copied.
  private static func outcome(_ rows: RowCursor, source: SourceKey) throws -> Outcome {
    guard let row = try rows.next() else { return .miss }
    let id = try row.decode(Int64.self, atIndex: 0)
    // Subscripts of a row trap if the value has another type; `decode` throws.
    guard var thumbnail = try? decode(row), let expected = try? row.decode(Int64.self, atIndex: 8) else {
      return .damaged(row: id)
    }
    while let rest = try rows.next() {
      try? rest.withUnsafeData(atIndex: 9) { if let data = $0 { thumbnail.data.append(data) } }
    }
    return checksum(of: thumbnail, source: source) == expected ? .hit(thumbnail, row: id) : .damaged(row: id)
  }

  private static func decode(_ row: Row) throws -> Thumbnail? {
    guard let format = ImageFormat(rawValue: try row.decode(atIndex: 3)),
      let sourceFormat = ImageFormat(rawValue: try row.decode(atIndex: 6))
    else { return nil }
    return Thumbnail(
      data: try row.decode(atIndex: 9),
      size: PixelSize(try row.decode(atIndex: 1), try row.decode(atIndex: 2)), format: format,
      source: SourceDescription(
        size: PixelSize(try row.decode(atIndex: 4), try row.decode(atIndex: 5)), format: sourceFormat,
        byteCount: try row.decode(atIndex: 7)))
  }

  /// Reads the thumbnail of one row, if it still belongs to that source.
  func thumbnail(row: Int64, source: SourceKey) throws -> Outcome {
    try queue.unsafeRead { db in
      let statement = try db.cachedStatement(
        sql: """
          SELECT \(Self.columns) FROM source s JOIN thumbnail t ON t.source = s.id \(Self.pieces)
          WHERE t.id = ? AND s.key = ? ORDER BY p.id
          """)
      return try Self.outcome(Row.fetchCursor(statement, arguments: [row, source.bytes]), source: source)
    }
  }

  /// The stored variants of a source, except those of other encoder versions.
  func variants(of source: SourceKey) throws -> [Variant] {
    try queue.unsafeRead { db in
      let statement = try db.cachedStatement(
        sql: """
          SELECT v.token FROM source s JOIN thumbnail t ON t.source = s.id JOIN variant v ON v.id = t.variant
          WHERE s.key = ?
          """)
      return try String.fetchAll(statement, arguments: [source.bytes]).compactMap { Variant(token: $0) }
    }
  }

  /// Runs any query.
  func read<Value>(_ query: (Database) throws -> Value) throws -> Value {
    try queue.unsafeRead(query)
  }

  /// The checksum stored with a thumbnail, over its bytes, size and source, so that it detects flipped bits as well as
  /// an index that leads to the wrong row.
  static func checksum(of thumbnail: Thumbnail, source: SourceKey) -> Int64 {
    thumbnail.data.withUnsafeBytes { checksum(of: $0, size: thumbnail.size, source: source) }
  }

  /// The same for bytes that need not be copied.
  static func checksum(of bytes: UnsafeRawBufferPointer, size: PixelSize, source: SourceKey) -> Int64 {
    let seed = source.low ^ UInt64(truncatingIfNeeded: size.width << 32 ^ size.height)
    return Int64(bitPattern: Checksum.xxh64(bytes, seed: seed))
  }
}

/// Caches the tokens of the variants in use, since building one costs more than a quarter of a disk hit.
final class VariantTokens: Sendable {
  static let shared = VariantTokens()
  private let tokens = Mutex<[Variant: String]>([:])

  func token(of variant: Variant) -> String {
    if let known = tokens.withLock({ $0[variant] }) { return known }
    let token = variant.token
    tokens.withLock { tokens in
      if tokens.count >= 64 { tokens.removeAll() }
      tokens[variant] = token
    }
    return token
  }
}
