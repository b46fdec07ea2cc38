import Foundation
import GRDB
import HTTPSemantics
import ThumbnailCore

/// Writing the history of a source image: its responses and failures.
extension CacheWriter {
  /// The most failures kept: one for each 16 KiB of the cache's limit.
  private var failuresKept: Int { min(max(limits.byteLimit >> 14, 64), 10_000) }

  /// Stores a response's metadata. Of a source's URLs, those confirmed last are kept; ones dated in the future by a
  /// wrong clock are removed first.
  func store(_ response: StoredResponse, of source: SourceKey, in db: Database) throws {
    guard let url = response.url else { return }
    let metadata = response.metadata
    try db.cachedStatement(
      sql: """
        INSERT OR REPLACE INTO freshness (source, url, address, confirmed_at, expires_at, etag, last_modified,
          cache_control, expires, vary, length)
        VALUES ((SELECT id FROM source WHERE key = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """
    ).execute(arguments: [
      source.bytes, url.bytes, response.address == url ? nil : response.address.bytes,
      response.freshness.confirmed.timeIntervalSince1970,
      response.freshness.expires.timeIntervalSince1970, metadata.etag, metadata.lastModified, metadata.cacheControl,
      metadata.expires, metadata.vary, response.length,
    ])
    try db.cachedStatement(
      sql: """
        DELETE FROM freshness WHERE source = (SELECT id FROM source WHERE key = ?1) AND url NOT IN
          (SELECT url FROM freshness WHERE source = (SELECT id FROM source WHERE key = ?1)
            ORDER BY confirmed_at > ?2, confirmed_at DESC LIMIT ?3)
        """
    ).execute(arguments: [source.bytes, response.freshness.confirmed.timeIntervalSince1970 + 1, SourceHistory.longest])
  }

  func apply(_ change: HistoryChange, of source: SourceKey, in db: Database) throws {
    switch change {
    case .confirmed(let response, let earlier):
      guard let url = response.url else { return }
      let isThere = try Bool.fetchOne(
        db.cachedStatement(
          sql: """
            SELECT etag IS ? AND last_modified IS ? FROM freshness
            WHERE source = (SELECT id FROM source WHERE key = ?) AND url = ?
            """),
        arguments: [earlier.etag, earlier.lastModified, source.bytes, url.bytes])
      if isThere == true { try store(response, of: source, in: db) }
    case .failed(let failure):
      try db.cachedStatement(
        sql: """
          INSERT OR REPLACE INTO failure (source, url, code, reason, byte_limit, pixel_limit, memory_limit, noted_at,
            until)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
          """
      ).execute(arguments: [
        source.bytes, failure.url.bytes, failure.code, failure.reason, failure.limits.bytes, failure.limits.pixels,
        failure.limits.memory, failure.noted.timeIntervalSince1970, failure.until.timeIntervalSince1970,
      ])
      try db.cachedStatement(
        sql: "DELETE FROM failure WHERE id <= (SELECT max(id) FROM failure) - ?"
      ).execute(arguments: [failuresKept])
    case .forgiven(let url):
      try db.cachedStatement(
        sql: "DELETE FROM failure WHERE source = ? AND url = ?"
      ).execute(arguments: [source.bytes, url.bytes])
    }
  }
}
