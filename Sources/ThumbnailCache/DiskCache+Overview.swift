public import Foundation
import GRDB
import ThumbnailCore

extension DiskCache {
  /// Statistics of what is written, by size, format, host and age, and of its use. Blocks for 25 to 50 ms with 100,000
  /// images; memory use grows only with `hosts`.
  ///
  /// - Parameters:
  ///   - hosts: The most hosts to list.
  ///   - now: What ages are counted from.
  public func overview(hosts: Int = 10, at now: Date = Date()) throws(DiskCacheError) -> DiskCacheOverview {
    let empty = DiskCacheStatistics(
      thumbnails: 0, sources: 0, payloadBytes: 0, fileBytes: 0, byteLimit: byteLimit, oldest: nil)
    var overview = DiskCacheOverview(
      totals: empty, sizes: [], formats: [], hosts: [], hostCount: 0, ages: .init(), hits: 0, misses: 0)
    guard let connections = try connectionsInPlace() else { return overview }
    do {
      try connections.read { db in
        try db.inTransaction(.deferred) {
          try overview.addTotals(db)
          try overview.addCensus(db)
          try overview.addHosts(db, most: hosts)
          try overview.addAges(db, at: now.timeIntervalSince1970)
          return .commit
        }
      }
    } catch {
      throw DiskCacheError(error, path: database.path)
    }
    overview.totals.fileBytes = database.fileBytes
    return overview
  }
}

extension DiskCacheOverview {
  fileprivate mutating func addTotals(_ db: Database) throws {
    totals.payloadBytes = try Int.fetchOne(db, sql: "SELECT payload FROM total") ?? 0
    guard let row = try Row.fetchOne(db, sql: "SELECT hits, misses FROM tally") else { return }
    (hits, misses) = (try row.decode(atIndex: 0), try row.decode(atIndex: 1))
  }

  fileprivate mutating func addCensus(_ db: Database) throws {
    let rows = try Row.fetchCursor(
      db,
      sql: """
        SELECT v.token, c.format, c.thumbnails, c.bytes FROM census c LEFT JOIN variant v ON v.id = c.variant
        """)
    var boxes: [PixelSize?: (Int, Int)] = [:]
    var counts: [ImageFormat: (Int, Int)] = [:]
    while let row = try rows.next() {
      let (thumbnails, bytes) = (try row.decode(Int.self, atIndex: 2), try row.decode(Int.self, atIndex: 3))
      totals.thumbnails += thumbnails
      let box = try row.decode(String?.self, atIndex: 0).flatMap { Variant(token: $0) }?.size
      boxes[box] = ((boxes[box]?.0 ?? 0) + thumbnails, (boxes[box]?.1 ?? 0) + bytes)
      guard let format = ImageFormat(rawValue: try row.decode(atIndex: 1)) else { continue }
      counts[format] = ((counts[format]?.0 ?? 0) + thumbnails, (counts[format]?.1 ?? 0) + bytes)
    }
    sizes = boxes.map { Share(name: $0, thumbnails: $1.0, bytes: $1.1) }
      .sorted { ($1.thumbnails, $0.name?.pixelCount ?? 0) < ($0.thumbnails, $1.name?.pixelCount ?? 0) }
    formats = counts.map { Share(name: $0, thumbnails: $1.0, bytes: $1.1) }
      .sorted { ($1.thumbnails, $0.name.rawValue) < ($0.thumbnails, $1.name.rawValue) }
  }

  fileprivate mutating func addHosts(_ db: Database, most: Int) throws {
    let top = try Row.fetchAll(
      db, sql: "SELECT host, count(*) AS pictures FROM source GROUP BY host ORDER BY pictures DESC, host LIMIT ?",
      arguments: [max(0, most)])
    hosts = try top.map { HostShare(host: try $0.decode(atIndex: 0), pictures: try $0.decode(atIndex: 1)) }
    hostCount = try Int.fetchOne(db, sql: "SELECT count(DISTINCT host) FROM source WHERE host > ''") ?? 0
  }

  fileprivate mutating func addAges(_ db: Database, at now: Double) throws {
    let day = 86_400.0
    let counts = try Row.fetchOne(
      db,
      sql: """
        SELECT count(*), coalesce(sum(fetched_at >= ?), 0), coalesce(sum(fetched_at >= ?), 0),
          coalesce(sum(fetched_at >= ?), 0), min(fetched_at)
        FROM source
        """, arguments: [now - day, now - 7 * day, now - 30 * day])
    guard let counts else { return }
    let (all, inDay): (Int, Int) = (try counts.decode(atIndex: 0), try counts.decode(atIndex: 1))
    let (inWeek, inMonth): (Int, Int) = (try counts.decode(atIndex: 2), try counts.decode(atIndex: 3))
    totals.sources = all
    (ages.lastDay, ages.lastWeek) = (inDay, inWeek - inDay)
    (ages.lastMonth, ages.older) = (inMonth - inWeek, all - inMonth)
    totals.oldest = try counts.decode(Double?.self, atIndex: 4).map { Date(timeIntervalSince1970: $0) }
  }
}
