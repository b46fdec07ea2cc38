import Foundation
import GRDB
import ThumbnailCore

/// Pages of photo searches. Reads block for tens of microseconds and can come from any thread.
extension DiskCache {
  /// Stores a page, replacing an earlier one; returns when it is written.
  func store(_ page: StoredPage) async throws(DiskCacheError) {
    try await commits.stageAndWait(.pages(.store(page)))
  }

  /// Removes a photo from all pages; returns when that is written.
  func removePhoto(_ source: SourceKey) async throws(DiskCacheError) {
    try await commits.stageAndWait(.pages(.removePhoto(source)))
  }

  /// The page at a place; nil when it is not stored.
  func page(at place: PagePlace) throws(DiskCacheError) -> StoredPage? {
    let found = try reading { db in
      // A single statement, so that a page that is being replaced is read whole or not at all.
      let rows = try Row.fetchCursor(
        db.cachedStatement(
          sql: """
            SELECT l.id, l.next, l.total, l.fetched_at, p.source, p.data
            FROM listing_page l LEFT JOIN listing_photo p ON p.page = l.id
            WHERE l.provider = ? AND l.query = ? AND l.page_size = ? AND l.cursor = ? ORDER BY p.place
            """),
        arguments: [place.provider, place.query, place.pageSize, place.storedCursor])
      var id: Int64?
      var page = StoredPage(place: place, next: nil, total: nil, photos: [])
      while let row = try rows.next() {
        if id == nil {
          id = try row.decode(Int64.self, atIndex: 0)
          page.next = try row.decode(String?.self, atIndex: 1)
          page.total = try row.decode(Int?.self, atIndex: 2)
          page.fetchedAt = Date(timeIntervalSince1970: try row.decode(Double.self, atIndex: 3))
        }
        if let photo = try Self.photo(in: row, at: 4) { page.photos.append(photo) }
      }
      return id.map { (row: $0, page: page) }
    }
    guard let found = found ?? nil else { return nil }
    try commits.stage(.pages(.used(row: found.row)))
    return found.page
  }

  /// The page sizes that a search's first page is stored with, most recently used first.
  func pageSizes(provider: String, query: String) throws(DiskCacheError) -> [Int] {
    try reading { db in
      try Int.fetchAll(
        db.cachedStatement(
          sql: "SELECT page_size FROM listing_page WHERE provider = ? AND query = ? AND cursor = '' ORDER BY used DESC"),
        arguments: [provider, query])
    } ?? []
  }

  /// Photos whose source has a thumbnail, each in its most recently stored form, most recent first.
  func cachedPhotos(after mark: Int64?, count: Int) throws(DiskCacheError) -> CachedPhotos {
    try reading { db in
      let rows = try Row.fetchAll(
        db.cachedStatement(
          sql: """
            SELECT p.id, p.source, p.data FROM listing_photo p
            WHERE p.id < ? AND EXISTS (SELECT 1 FROM source WHERE key = p.source)
              AND NOT EXISTS (SELECT 1 FROM listing_photo n WHERE n.source = p.source AND n.id > p.id)
            ORDER BY p.id DESC LIMIT ?
            """),
        arguments: [mark ?? .max, count])
      return CachedPhotos(
        photos: try rows.compactMap { try Self.photo(in: $0, at: 1) },
        next: rows.count < count ? nil : try rows.last?.decode(Int64.self, atIndex: 0))
    } ?? CachedPhotos()
  }

  /// The photo whose key and payload begin at a column; nil if there is none.
  private static func photo(in row: Row, at index: Int) throws -> StoredPhoto? {
    guard let source = try row.decode(Data?.self, atIndex: index), source.count == 16,
      let payload = try row.decode(Data?.self, atIndex: index + 1)
    else { return nil }
    return StoredPhoto(source: SourceKey(bytes: source), payload: payload)
  }

  /// Runs a query; nil when the file is gone.
  private func reading<Value>(_ query: (Database) throws -> Value) throws(DiskCacheError) -> Value? {
    guard let connections = try connectionsInPlace() else { return nil }
    do {
      return try connections.read(query)
    } catch {
      throw DiskCacheError(error, path: database.path)
    }
  }
}
