public import Foundation
import GRDB
public import ThumbnailCore

/// Statistics of a disk cache, in groups, and of its use. Pictures are the source images of the thumbnails.
public struct DiskCacheOverview: Sendable, Equatable {
  /// The thumbnails of one box or one format.
  public struct Share<Name: Sendable & Equatable>: Sendable, Equatable {
    /// The box or the format.
    public var name: Name
    /// The number of thumbnails.
    public var thumbnails: Int
    /// Their total length in bytes.
    public var bytes: Int
  }

  /// The images of one host.
  public struct HostShare: Sendable, Equatable {
    /// The host; empty for local files.
    public var host: String
    /// The number of images.
    public var pictures: Int
  }

  /// The number of images by the time since they were fetched. Each is counted once.
  public struct Ages: Sendable, Equatable {
    /// Fetched within 24 hours, or in the future, as it seems after a clock was set back.
    public var lastDay = 0
    /// Fetched within 7 days, but not within the last one.
    public var lastWeek = 0
    /// Fetched within 30 days, but not within the last 7.
    public var lastMonth = 0
    /// Fetched earlier.
    public var older = 0

    /// No images.
    public init() {}
  }

  /// The totals.
  public var totals: DiskCacheStatistics
  /// The thumbnails by requested box, most first. Nil stands for those made by another version of the library, which
  /// this one makes again.
  public var sizes: [Share<PixelSize?>]
  /// The thumbnails by format, most first.
  public var formats: [Share<ImageFormat>]
  /// The hosts with the most images, most first.
  public var hosts: [HostShare]
  /// The number of hosts, without local files.
  public var hostCount: Int
  /// The images by age.
  public var ages: Ages
  /// The disk hits of all processes since the cache was created or cleared. Hits in memory are not counted.
  public var hits: Int
  /// The disk misses.
  public var misses: Int
}

extension DiskCache {
  /// Statistics of what is written, by size, format, host and age, and of its use. Blocks for 25 to 50 ms with 100,000
  /// images; memory use grows only with `hosts`.
  ///
  /// - Parameters:
  ///   - hosts: The most hosts to list.
  ///   - now: What ages are counted from.
  public func overview(hosts: Int = 10, at now: Date = Date()) throws(DiskCacheError) -> DiskCacheOverview {
    var overview = DiskCacheOverview(byteLimit: byteLimit)
    try read(inSnapshot: true) { db in
      try overview.add(db, hosts: hosts, at: now)
      overview.totals.fileBytes = CacheDatabase.fileBytes(database.path)
    }
    return overview
  }
}

extension DiskCacheOverview {
  /// That of an empty cache.
  init(byteLimit: Int) {
    self.init(
      totals: DiskCacheStatistics(byteLimit: byteLimit), sizes: [], formats: [], hosts: [], hostCount: 0, ages: .init(),
      hits: 0, misses: 0)
  }

  /// Adds what the tables hold; see `DiskCache.overview`.
  mutating func add(_ db: Database, hosts: Int, at now: Date) throws {
    try addTotals(db)
    try addCensus(db)
    try addHosts(db, most: hosts)
    try addAges(db, at: now.timeIntervalSince1970)
  }

  private mutating func addTotals(_ db: Database) throws {
    totals.payloadBytes = try CacheTotals.payload(in: db)
    guard let row = try Row.fetchOne(db, sql: "SELECT hits, misses FROM tally") else { return }
    (hits, misses) = (try row.decode(atIndex: 0), try row.decode(atIndex: 1))
  }

  private mutating func addCensus(_ db: Database) throws {
    let rows = try Row.fetchCursor(
      db,
      sql: """
        SELECT v.token, c.format, \(CacheTotals.count("c.thumbnails")), \(CacheTotals.count("c.bytes"))
        FROM census c LEFT JOIN variant v ON v.id = c.variant
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

  private mutating func addHosts(_ db: Database, most: Int) throws {
    let top = try Row.fetchAll(
      db, sql: "SELECT host, count(*) AS pictures FROM source GROUP BY host ORDER BY pictures DESC, host LIMIT ?",
      arguments: [max(0, most)])
    hosts = try top.map { HostShare(host: try $0.decode(atIndex: 0), pictures: try $0.decode(atIndex: 1)) }
    hostCount = try Int.fetchOne(db, sql: "SELECT count(DISTINCT host) FROM source WHERE host > ''") ?? 0
  }

  private mutating func addAges(_ db: Database, at now: Double) throws {
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
