import Foundation
import GRDB
import HTTPSemantics
import ThumbnailCore

/// The history of source images: the tables `freshness` and `failure`.
enum HistoryTable {
  /// - `freshness` has the metadata of responses, one row per URL of an image; see `StoredResponse`. Rows are removed
  ///   with their source. `address` is null if it equals `url`.
  /// - `failure` has cached failures, one row per URL; see `RememberedFailure`. `id` counts up, so that the oldest can
  ///   be removed.
  static let schema = """
    CREATE TABLE freshness (
      source INTEGER NOT NULL,
      url BLOB NOT NULL,
      address BLOB,
      confirmed_at REAL NOT NULL,
      expires_at REAL NOT NULL,
      etag TEXT,
      last_modified TEXT,
      cache_control TEXT,
      expires TEXT,
      vary TEXT,
      length INTEGER,
      PRIMARY KEY (source, url)
    ) WITHOUT ROWID;
    CREATE TRIGGER freshness_left AFTER DELETE ON source BEGIN
      DELETE FROM freshness WHERE source = old.id;
    END;
    CREATE TABLE failure (
      id INTEGER PRIMARY KEY,
      source BLOB NOT NULL,
      url BLOB NOT NULL,
      code TEXT NOT NULL,
      reason TEXT NOT NULL,
      byte_limit INTEGER NOT NULL,
      pixel_limit INTEGER NOT NULL,
      memory_limit INTEGER NOT NULL,
      noted_at REAL NOT NULL,
      until REAL NOT NULL,
      UNIQUE (source, url)
    );
    """

  /// The history of a source. Takes two queries, some ten microseconds. Invalid rows are skipped.
  static func history(of source: SourceKey, in db: Database) throws -> SourceHistory {
    var history = SourceHistory()
    let responses = try db.rows(
      """
      SELECT url, address, confirmed_at, expires_at, etag, last_modified, cache_control, expires, vary, length
      FROM freshness WHERE source = (SELECT id FROM source WHERE key = ?) ORDER BY confirmed_at DESC
      """, [source.bytes])
    while let row = try responses.next() {
      if let response = try? response(row) { history.responses.append(response) }
    }
    if history.responses.isEmpty, let only = try unnamedResponse(of: source, in: db) { history.responses = [only] }
    let failures = try db.rows(
      """
      SELECT url, code, reason, byte_limit, pixel_limit, memory_limit, noted_at, until FROM failure WHERE source = ?
      """, [source.bytes])
    while let row = try failures.next() {
      if let failure = try? failure(row) { history.failures.append(failure) }
    }
    return history
  }

  private static func response(_ row: Row) throws -> StoredResponse {
    var metadata = ResponseMetadata()
    metadata.etag = try row.decode(String?.self, atIndex: 4)
    metadata.lastModified = try row.decode(String?.self, atIndex: 5)
    metadata.cacheControl = try row.decode(String?.self, atIndex: 6)
    metadata.expires = try row.decode(String?.self, atIndex: 7)
    metadata.vary = try row.decode(String?.self, atIndex: 8)
    let url = try row.key(at: 0)
    return StoredResponse(
      url: url, address: try row.hasNull(atIndex: 1) ? url : row.key(at: 1), metadata: metadata,
      length: try row.decode(Int?.self, atIndex: 9),
      freshness: Freshness(confirmed: try row.date(at: 2), expires: try row.date(at: 3)))
  }

  /// The fallback for a source whose response is missing or invalid: fresh for the default time since it was fetched.
  private static func unnamedResponse(of source: SourceKey, in db: Database) throws -> StoredResponse? {
    let row = try db.row("SELECT fetched_at FROM source WHERE key = ?", [source.bytes])
    guard let fetched = try? row?.date(at: 0) else { return nil }
    let metadata = ResponseMetadata()
    return StoredResponse(
      url: nil, address: source, metadata: metadata,
      freshness: metadata.freshness([], receivedAt: fetched, delay: 0))
  }

  private static func failure(_ row: Row) throws -> RememberedFailure {
    RememberedFailure(
      url: try row.key(at: 0), code: try row.decode(atIndex: 1), reason: try row.decode(atIndex: 2),
      limits: .init(
        bytes: try row.decode(atIndex: 3), pixels: try row.decode(atIndex: 4), memory: try row.decode(atIndex: 5)),
      noted: try row.date(at: 6), until: try row.date(at: 7))
  }

  /// Stores a response's metadata. The URLs of a source that were confirmed last are kept. Rows that a wrong clock has
  /// dated in the future are removed first.
  static func put(_ response: StoredResponse, of source: SourceKey, in db: Database) throws {
    guard let url = response.url else { return }
    let metadata = response.metadata
    try db.run(
      """
      INSERT OR REPLACE INTO freshness (source, url, address, confirmed_at, expires_at, etag, last_modified,
        cache_control, expires, vary, length)
      VALUES ((SELECT id FROM source WHERE key = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        source.bytes, url.bytes, response.address == url ? nil : response.address.bytes,
        response.freshness.confirmed.timeIntervalSince1970,
        response.freshness.expires.timeIntervalSince1970, metadata.etag, metadata.lastModified, metadata.cacheControl,
        metadata.expires, metadata.vary, response.length,
      ])
    try db.run(
      """
      DELETE FROM freshness WHERE source = (SELECT id FROM source WHERE key = ?1) AND url NOT IN
        (SELECT url FROM freshness WHERE source = (SELECT id FROM source WHERE key = ?1)
          ORDER BY confirmed_at > ?2, confirmed_at DESC LIMIT ?3)
      """, [source.bytes, response.freshness.confirmed.timeIntervalSince1970 + 1, SourceHistory.longest])
  }

  /// Stores the metadata of a revalidated response, unless the stored one has been replaced meanwhile.
  static func confirm(
    _ response: StoredResponse, insteadOf earlier: ResponseMetadata, of source: SourceKey, in db: Database
  ) throws {
    guard let url = response.url else { return }
    let isThere: Bool? = try db.value(
      """
      SELECT etag IS ? AND last_modified IS ? FROM freshness
      WHERE source = (SELECT id FROM source WHERE key = ?) AND url = ?
      """, [earlier.etag, earlier.lastModified, source.bytes, url.bytes])
    if isThere == true { try put(response, of: source, in: db) }
  }

  /// Stores a failure, replacing that of its URL. Beyond the limit, the oldest are removed.
  static func put(
    _ failure: RememberedFailure, of source: SourceKey, _ limits: DiskCacheLimits, in db: Database
  ) throws {
    try db.run(
      """
      INSERT OR REPLACE INTO failure (source, url, code, reason, byte_limit, pixel_limit, memory_limit, noted_at,
        until)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        source.bytes, failure.url.bytes, failure.code, failure.reason, failure.limits.bytes, failure.limits.pixels,
        failure.limits.memory, failure.noted.timeIntervalSince1970, failure.until.timeIntervalSince1970,
      ])
    try db.run("DELETE FROM failure WHERE id <= (SELECT max(id) FROM failure) - ?", [limits.failures])
  }

  /// Removes the failures of a source, or that of one of its URLs.
  static func removeFailures(of source: SourceKey, url: SourceKey? = nil, in db: Database) throws {
    try db.run("DELETE FROM failure WHERE source = ? AND url = coalesce(?, url)", [source.bytes, url?.bytes])
  }
}
