package import Foundation
import GRDB
package import ThumbnailCore

/// The contents of a disk cache at one moment.
package struct DiskCacheStatistics: Sendable, Equatable {
  /// The number of thumbnails.
  package var thumbnails = 0
  /// The number of source images.
  package var sources = 0
  /// The total length of all thumbnails in bytes, to which the limit applies.
  package var payloadBytes = 0
  /// The size of the database and its write-ahead log on disk, in bytes.
  package var fileBytes = 0
  /// The limit on `payloadBytes`.
  package var byteLimit = 0
  /// The earliest fetch time of all stored images. Nil when there are none.
  package var oldest: Date?
}

extension DiskCache {
  /// Statistics of the written thumbnails. Takes milliseconds, more with hundreds of thousands of thumbnails.
  package func statistics() throws(DiskCacheError) -> DiskCacheStatistics {
    try read { try DiskCacheStatistics(in: $0, path: database.path, byteLimit: byteLimit) }
      ?? DiskCacheStatistics(byteLimit: byteLimit)
  }
}

extension DiskCacheStatistics {
  init(in db: Database, path: String, byteLimit: Int = 0) throws {
    self.init(
      thumbnails: try db.integer("SELECT count(*) FROM recency"),
      sources: try db.integer("SELECT count(*) FROM source"), payloadBytes: try CacheTotals.payload(in: db),
      fileBytes: CacheDatabase.fileBytes(path), byteLimit: byteLimit,
      oldest: try Double.fetchOne(db, sql: "SELECT min(fetched_at) FROM source").map { Date(timeIntervalSince1970: $0) }
    )
  }
}

/// Statistics of a disk cache, in groups, and of its use. Pictures are the source images of the thumbnails.
package struct DiskCacheOverview: Sendable, Equatable {
  /// The thumbnails of one box or one format.
  package struct Share<Name: Sendable & Equatable>: Sendable, Equatable {
    /// The box or the format.
    package var name: Name
    /// The number of thumbnails.
    package var thumbnails: Int
    /// Their total length in bytes.
    package var bytes: Int
  }

  /// The images of one host.
  package struct HostShare: Sendable, Equatable {
    /// The host; empty for local files.
    package var host: String
    /// The number of images.
    package var pictures: Int
  }

  /// The number of images by the time since they were fetched. Each is counted once.
  package struct Ages: Sendable, Equatable {
    /// Fetched within 24 hours, or in the future because a clock was set back.
    package var lastDay = 0
    /// Fetched within 7 days, but not within the last one.
    package var lastWeek = 0
    /// Fetched within 30 days, but not within the last 7.
    package var lastMonth = 0
    /// Fetched earlier.
    package var older = 0

    /// No images.
    package init() {}
  }

  /// The totals.
  package var totals: DiskCacheStatistics
  /// The thumbnails by requested box, most first. Nil stands for thumbnails of another version of the library, which
  /// this version makes again.
  package var sizes: [Share<PixelSize?>]
  /// The thumbnails by format, most first.
  package var formats: [Share<ImageFormat>]
  /// The hosts with the most images, most first.
  package var hosts: [HostShare]
  /// The number of hosts, without local files.
  package var hostCount: Int
  /// The images by age.
  package var ages: Ages
  /// The disk hits of all processes since the cache was created or cleared. Hits in memory are not counted.
  package var hits: Int
  /// The disk misses.
  package var misses: Int
}

extension DiskCache {
  /// Statistics of the written thumbnails by size, format, host and age, and of their use. Blocks for 25 to 50 ms with
  /// 100,000 images. Memory use grows only with `hosts`.
  ///
  /// - Parameters:
  ///   - hosts: The most hosts to list.
  ///   - now: The time from which ages are counted.
  package func overview(hosts: Int = 10, at now: Date = Date()) throws(DiskCacheError) -> DiskCacheOverview {
    var overview = DiskCacheOverview(byteLimit: byteLimit)
    try read(inSnapshot: true) { db in
      try overview.add(db, hosts: hosts, at: now)
      overview.totals.fileBytes = CacheDatabase.fileBytes(database.path)
    }
    return overview
  }
}

extension DiskCacheOverview {
  /// The overview of an empty cache.
  init(byteLimit: Int) {
    self.init(
      totals: DiskCacheStatistics(byteLimit: byteLimit), sizes: [], formats: [], hosts: [], hostCount: 0, ages: .init(),
      hits: 0, misses: 0)
  }

  /// Adds the contents of the tables (`DiskCache.overview`).
  mutating func add(_ db: Database, hosts: Int, at now: Date) throws {
    totals.payloadBytes = try CacheTotals.payload(in: db)
    if let row = try db.row("SELECT hits, misses FROM tally") {
      (hits, misses) = (try row.decode(atIndex: 0), try row.decode(atIndex: 1))
    }
    try addCensus(db)
    try addHosts(db, most: hosts)
    try addAges(db, at: now.timeIntervalSince1970)
  }

  private mutating func addCensus(_ db: Database) throws {
    let rows = try db.rows(
      """
      SELECT v.token, c.format, \(CacheTotals.count("c.thumbnails")), \(CacheTotals.count("c.bytes"))
      FROM census c LEFT JOIN variant v ON v.id = c.variant
      """)
    var boxes: [PixelSize?: Share<PixelSize?>] = [:]
    var counts: [ImageFormat: Share<ImageFormat>] = [:]
    while let row = try rows.next() {
      let (thumbnails, bytes): (Int, Int) = (try row.decode(atIndex: 2), try row.decode(atIndex: 3))
      totals.thumbnails += thumbnails
      let box = try row.decode(String?.self, atIndex: 0).flatMap { Variant(token: $0) }?.size
      boxes[box, default: Share(name: box, thumbnails: 0, bytes: 0)].add(thumbnails, bytes)
      guard let format = try? row.format(at: 1) else { continue }
      counts[format, default: Share(name: format, thumbnails: 0, bytes: 0)].add(thumbnails, bytes)
    }
    sizes = boxes.values.sorted {
      ($1.thumbnails, $0.name?.pixelCount ?? 0) < ($0.thumbnails, $1.name?.pixelCount ?? 0)
    }
    formats = counts.values.sorted { ($1.thumbnails, $0.name.rawValue) < ($0.thumbnails, $1.name.rawValue) }
  }

  private mutating func addHosts(_ db: Database, most: Int) throws {
    let top = try db.rows(
      "SELECT host, count(*) AS pictures FROM source GROUP BY host ORDER BY pictures DESC, host LIMIT ?", [max(0, most)]
    )
    while let row = try top.next() {
      hosts.append(HostShare(host: try row.decode(atIndex: 0), pictures: try row.decode(atIndex: 1)))
    }
    hostCount = try db.integer("SELECT count(DISTINCT host) FROM source WHERE host > ''")
  }

  private mutating func addAges(_ db: Database, at now: Double) throws {
    let day = 86_400.0
    let counts = try db.row(
      """
      SELECT count(*), coalesce(sum(fetched_at >= ?), 0), coalesce(sum(fetched_at >= ?), 0),
        coalesce(sum(fetched_at >= ?), 0), min(fetched_at)
      FROM source
      """, [now - day, now - 7 * day, now - 30 * day])
    guard let row = counts else { return }
    let (all, inDay): (Int, Int) = (try row.decode(atIndex: 0), try row.decode(atIndex: 1))
    let (inWeek, inMonth): (Int, Int) = (try row.decode(atIndex: 2), try row.decode(atIndex: 3))
    totals.sources = all
    (ages.lastDay, ages.lastWeek) = (inDay, inWeek - inDay)
    (ages.lastMonth, ages.older) = (inMonth - inWeek, all - inMonth)
    totals.oldest = try row.decode(Double?.self, atIndex: 4).map { Date(timeIntervalSince1970: $0) }
  }
}

extension DiskCacheOverview.Share {
  fileprivate mutating func add(_ thumbnails: Int, _ bytes: Int) {
    self.thumbnails += thumbnails
    self.bytes += bytes
  }
}
