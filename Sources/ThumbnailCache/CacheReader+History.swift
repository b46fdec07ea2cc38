import Foundation
import GRDB
import HTTPSemantics
import ThumbnailCore

/// Reading the history of a source image: its responses and failures.
extension CacheReader {
  /// The history of a source. Takes two queries, some ten microseconds. Invalid rows are skipped.
  func history(of source: SourceKey) throws -> SourceHistory {
    try read { try Self.history(of: source, in: $0) }
  }

  /// The same on any connection.
  static func history(of source: SourceKey, in db: Database) throws -> SourceHistory {
    var history = SourceHistory()
    let responses = try Row.fetchCursor(
      db.cachedStatement(
        sql: """
          SELECT url, address, confirmed_at, expires_at, etag, last_modified, cache_control, expires, vary,
            length
          FROM freshness WHERE source = (SELECT id FROM source WHERE key = ?) ORDER BY confirmed_at DESC
          """), arguments: [source.bytes])
    while let row = try responses.next() {
      if let response = try? response(row) { history.responses.append(response) }
    }
    if history.responses.isEmpty, let only = try unnamedResponse(of: source, in: db) { history.responses = [only] }
    let failures = try Row.fetchCursor(
      db.cachedStatement(
        sql: """
          SELECT url, code, reason, byte_limit, pixel_limit, memory_limit, noted_at, until
          FROM failure WHERE source = ?
          """), arguments: [source.bytes])
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
    let url = try digest(row, 0)
    return StoredResponse(
      url: url, address: try row.hasNull(atIndex: 1) ? url : digest(row, 1), metadata: metadata,
      length: try row.decode(Int?.self, atIndex: 9),
      freshness: Freshness(confirmed: try date(row, 2), expires: try date(row, 3)))
  }

  /// The fallback for a source whose response is missing or invalid: fresh for the default time since it was fetched.
  private static func unnamedResponse(of source: SourceKey, in db: Database) throws -> StoredResponse? {
    let rows = try Row.fetchCursor(
      db.cachedStatement(sql: "SELECT fetched_at FROM source WHERE key = ?"),
      arguments: [source.bytes])
    guard let row = try rows.next(), let fetched = try? date(row, 0) else { return nil }
    let metadata = ResponseMetadata()
    return StoredResponse(
      url: nil, address: source, metadata: metadata,
      freshness: metadata.freshness([], receivedAt: fetched, delay: 0))
  }

  private static func failure(_ row: Row) throws -> RememberedFailure {
    RememberedFailure(
      url: try digest(row, 0), code: try row.decode(atIndex: 1),
      reason: try row.decode(atIndex: 2),
      limits: .init(
        bytes: try row.decode(atIndex: 3), pixels: try row.decode(atIndex: 4), memory: try row.decode(atIndex: 5)),
      noted: try date(row, 6), until: try date(row, 7))
  }

  private static func digest(_ row: Row, _ index: Int) throws -> SourceKey {
    let bytes = try row.decode(Data.self, atIndex: index)
    guard bytes.count == 16 else { throw DatabaseError(resultCode: .SQLITE_MISMATCH) }
    return SourceKey(bytes: bytes)
  }

  /// Rejects times beyond some ten thousand years as damage, since no calendar could represent them.
  private static func date(_ row: Row, _ index: Int) throws -> Date {
    let seconds = try row.decode(Double.self, atIndex: index)
    guard abs(seconds) < 4e11 else { throw DatabaseError(resultCode: .SQLITE_MISMATCH) }
    return Date(timeIntervalSince1970: seconds)
  }
}
