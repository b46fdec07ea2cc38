public import Foundation
import GRDB

/// The contents of a disk cache at one moment.
public struct DiskCacheStatistics: Sendable, Equatable {
  /// The number of thumbnails.
  public var thumbnails = 0
  /// The number of source images.
  public var sources = 0
  /// The total length of all thumbnails in bytes, to which the limit applies.
  public var payloadBytes = 0
  /// The size of the database and its write-ahead log on disk, in bytes.
  public var fileBytes = 0
  /// The limit on `payloadBytes`.
  public var byteLimit = 0
  /// The earliest fetch time of all stored images. Nil when there are none.
  public var oldest: Date?
}

extension DiskCache {
  /// Statistics of what is written. Takes milliseconds, more with hundreds of thousands of thumbnails.
  public func statistics() throws(DiskCacheError) -> DiskCacheStatistics {
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
