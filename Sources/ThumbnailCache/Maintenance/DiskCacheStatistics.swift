import GRDB

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

  /// Nothing.
  package init() {}
}

extension DiskCache {
  /// Statistics of the written thumbnails. Takes milliseconds, more with hundreds of thousands of thumbnails.
  package func statistics() throws(DiskCacheError) -> DiskCacheStatistics {
    try read { try DiskCacheStatistics(in: $0, path: database.path) } ?? DiskCacheStatistics()
  }
}

extension DiskCacheStatistics {
  init(in db: Database, path: String) throws {
    self.init()
    thumbnails = try db.integer("SELECT count(*) FROM recency")
    sources = try db.integer("SELECT count(*) FROM source")
    payloadBytes = try CacheTotals.payload(in: db)
    fileBytes = CacheDatabase.fileBytes(path)
  }
}
