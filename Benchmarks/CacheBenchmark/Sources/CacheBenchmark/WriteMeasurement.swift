import CSQLite
import Foundation
import ThumbnailCache
import Thumbnailer

/// Storing through `DiskCache.store` and `flush`, against raw inserts into tables of the same schema, in transactions of
/// the same size, with the same settings.
enum WriteMeasurement {
  /// Thumbnails in one of the cache's transactions: 2 MiB of them.
  private static let transactionSize = (2 << 20) / 12_000

  static func run(_ samples: Samples, cache: DiskCache, directory: URL) async throws {
    // By turns, a quarter each, so that a disk that is slower for a while slows both.
    let path = directory.path + "/raw.sqlite"
    let raw = try makeRaw(path: path, like: directory.path + "/cache/thumbnails-v2.sqlite")
    let statements = try prepare(raw)
    var ours = 0.0
    var theirs = 0.0
    let quarter = (samples.sources.count + 3) / 4
    for start in stride(from: 0, to: samples.sources.count, by: quarter) {
      let range = start..<min(start + quarter, samples.sources.count)
      ours += try await ContinuousClock().measure { try await store(samples, range, in: cache) } / .seconds(1)
      theirs += try ContinuousClock().measure { try insert(samples, range, in: raw, with: statements) } / .seconds(1)
    }
    for statement in [statements.thumbnail, statements.source, statements.piece] { sqlite3_finalize(statement) }
    let rows = Double(samples.sources.count)
    print(
      "group commit: \(format(rows / ours, 0)) thumbnails a second, raw C \(format(rows / theirs, 0)), "
        + "ratio \(format(theirs / ours)) (at least 0.6)")
    for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
  }

  private static func store(_ samples: Samples, _ range: Range<Int>, in cache: DiskCache) async throws {
    for index in range {
      try await cache.store(
        [CacheEntry(variant: samples.variant, thumbnail: samples.thumbnail)],
        of: SourceRecord(samples.sources[index], description: samples.description))
    }
    try await cache.flush()
  }

  private static func makeRaw(path: String, like original: String) throws -> RawDatabase {
    let schema = try RawDatabase(path: original, readOnly: true).texts(
      "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")
    let raw = try RawDatabase(path: path, readOnly: false)
    try raw.execute(
      """
      PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 1024; PRAGMA journal_size_limit = 4194304
      """)
    for sql in schema { try raw.execute(sql) }
    try raw.execute("INSERT INTO total VALUES (1, 0)")
    return raw
  }

  private static func prepare(_ raw: RawDatabase) throws -> (
    thumbnail: OpaquePointer?, source: OpaquePointer?, piece: OpaquePointer?
  ) {
    let thumbnail = try raw.prepare(
      """
      INSERT INTO thumbnail (source, variant, width, height, format, source_width, source_height, source_format,
        source_bytes, checksum, bytes)
      VALUES (?, 1, 400, 400, 'jpeg', 6000, 4000, 'jpeg', 4000000, ?, ?)
      """)
    let source = try raw.prepare(
      """
      INSERT INTO source (key, location, host, fetched_at, width, height, format, bytes)
      VALUES (?, ?, 'images.example.org', 1700000000.0, 6000, 4000, 'jpeg', 4000000)
      """)
    // In one piece, wherever pages end.
    return (thumbnail, source, try raw.prepare("INSERT INTO piece VALUES (2 * ?, ?)"))
  }

  private static func insert(
    _ samples: Samples, _ range: Range<Int>, in raw: RawDatabase,
    with statements: (thumbnail: OpaquePointer?, source: OpaquePointer?, piece: OpaquePointer?)
  ) throws {
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    for index in range {
      if (index - range.lowerBound).isMultiple(of: transactionSize) { try raw.execute("BEGIN IMMEDIATE") }
      var key = (UInt64.random(in: 0 ... .max), UInt64.random(in: 0 ... .max))
      withUnsafeBytes(of: &key) { sqlite3_bind_blob(statements.source, 1, $0.baseAddress, 16, transient) }
      sqlite3_bind_text(
        statements.source, 2, String(samples.sources[index].url.absoluteString.dropFirst(26)), -1, transient)
      try raw.run(statements.source)
      for column in [1, 2] { sqlite3_bind_int64(statements.thumbnail, Int32(column), Int64(index + 1)) }
      sqlite3_bind_int64(statements.thumbnail, 3, Int64(samples.thumbnail.data.count))
      try raw.run(statements.thumbnail)
      sqlite3_bind_int64(statements.piece, 1, Int64(index + 1))
      try samples.thumbnail.data.withUnsafeBytes { bytes in
        sqlite3_bind_blob(statements.piece, 2, bytes.baseAddress, Int32(bytes.count), nil)
        try raw.run(statements.piece)
      }
      if (index - range.lowerBound + 1).isMultiple(of: transactionSize) || index == range.upperBound - 1 {
        try raw.execute("COMMIT")
      }
    }
  }
}
