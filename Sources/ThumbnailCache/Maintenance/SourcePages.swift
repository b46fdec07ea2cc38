import Foundation
import GRDB
import ThumbnailCore

/// Conditions on images. A condition that is nil or empty matches all images.
struct SourceFilter: Sendable {
  var key: SourceKey?
  var host: String?
  var location: String?
  /// In seconds since 1970.
  var fetchedBefore: Double?
  /// The prefix of addresses.
  var prefix: String?
  /// Words in the form of `SearchText`.
  var words: [[UInt8]] = []

  /// Whether an address has the prefix and contains all the words.
  func admits(location: String) -> Bool {
    if let prefix, !location.utf8.starts(with: prefix.utf8) { return false }
    if words.isEmpty { return true }
    let shown = location.removingPercentEncoding ?? location
    let folded = Array(SearchText.folded(shown).utf8)
    return words.allSatisfy { folded.firstRange(of: $0) != nil }
  }
}

/// Iterates over the source images of a cache page by page, ordered by host and fetch time.
///
/// Each page is a separate query that begins where the last one ended (keyset pagination), so that neither memory nor a
/// transaction grows with the cache. Images that are stored or removed meanwhile may or may not be listed.
struct SourcePages: Sendable {
  let filter: SourceFilter
  /// The host, time and id of the last page's last row, as stored.
  private var position: [DatabaseValue]?
  private(set) var isAtEnd = false

  /// Starts before the first image.
  init(_ filter: SourceFilter) { self.filter = filter }

  /// The matching images among the next `limit` rows, without their thumbnails. May be empty before the end.
  mutating func next(_ limit: Int, in db: Database) throws -> [StoredPicture] {
    if isAtEnd { return [] }
    var conditions: [String] = []
    var arguments: [(any DatabaseValueConvertible)?] = []
    func require(_ condition: String, _ values: [any DatabaseValueConvertible]) {
      conditions.append(condition)
      arguments += values
    }
    if let key = filter.key { require("key = ?", [key.bytes]) }
    if let host = filter.host { require("host = ?", [host]) }
    if let location = filter.location {
      require("location = ?", [SourceRecord.stored(location, host: filter.host ?? "")])
    }
    if let time = filter.fetchedBefore { require("fetched_at < ?", [time]) }
    if let position { require("(host, fetched_at, id) > (?, ?, ?)", position) }
    let clause = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
    let statement = try db.cachedStatement(
      sql: """
        SELECT host, fetched_at, id, key, location, width, height, format, bytes FROM source \(clause)
        ORDER BY host, fetched_at, id LIMIT ?
        """)
    let rows = try Row.fetchAll(statement, arguments: StatementArguments(arguments + [limit]))
    isAtEnd = rows.count < limit
    position = rows.last.map { row in (0..<3).map { row[$0] } } ?? position
    return rows.compactMap { try? Self.picture($0) }.filter { filter.admits(location: $0.location) }
  }

  private static func picture(_ row: Row) throws -> StoredPicture {
    let host: String = try row.decode(atIndex: 0)
    return StoredPicture(
      row: try row.decode(atIndex: 2), key: try row.key(at: 3),
      location: SourceRecord.location(try row.decode(atIndex: 4), host: host), host: host,
      fetchedAt: Date(timeIntervalSince1970: try row.decode(atIndex: 1)), description: try row.sourceDescription(at: 5))
  }
}
