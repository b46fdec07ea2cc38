import Foundation
import GRDB
import ThumbnailCore

/// A change to the stored search pages.
enum PageChange: Sendable {
  /// Stores a page, replacing an earlier one.
  case store(StoredPage)
  /// Marks a page as used, for the order of eviction.
  case used(row: Int64)
  /// Removes a photo from all pages.
  case removePhoto(SourceKey)
}

extension DiskCacheLimits {
  /// The most search pages kept, so that finding the least recently used one takes about a millisecond.
  static let listingPages = 16384

  /// The most bytes that all search pages take together: some hundred thousand photos with the default limit. They
  /// count towards the limit of the thumbnails.
  var listingBytes: Int { min(byteLimit / 16, 64 << 20) }
}

/// Storing search pages.
extension CacheWriter {
  func apply(_ change: PageChange, in db: Database) throws {
    switch change {
    case .store(let page):
      try store(page, in: db)
      try evictPages(in: db)
    case .used(let row):
      try db.cachedStatement(
        sql: "UPDATE listing_page SET used = (SELECT max(used) + 1 FROM listing_page) WHERE id = ?"
      ).execute(arguments: [row])
    case .removePhoto(let source):
      try db.cachedStatement(sql: "DELETE FROM listing_photo WHERE source = ?").execute(arguments: [source.bytes])
    }
  }

  private func store(_ page: StoredPage, in db: Database) throws {
    let place = page.place
    try db.cachedStatement(
      sql: "DELETE FROM listing_page WHERE provider = ? AND query = ? AND page_size = ? AND cursor = ?"
    ).execute(arguments: [place.provider, place.query, place.pageSize, place.storedCursor])
    // A photo's row and its index entries take about 64 bytes besides the photo.
    let bytes = page.photos.reduce(256) { $0 + $1.payload.count + 64 }
    try db.cachedStatement(
      sql: """
        INSERT INTO listing_page (provider, query, page_size, cursor, next, total, fetched_at, used, bytes)
        VALUES (?, ?, ?, ?, ?, ?, ?, (SELECT coalesce(max(used), 0) + 1 FROM listing_page), ?)
        """
    ).execute(arguments: [
      place.provider, place.query, place.pageSize, place.storedCursor, page.next, page.total,
      page.fetchedAt.timeIntervalSince1970, bytes,
    ])
    let row = db.lastInsertedRowID
    let insert = try db.cachedStatement(
      sql: "INSERT INTO listing_photo (page, place, source, data) VALUES (?, ?, ?, ?)")
    for (index, photo) in page.photos.enumerated() {
      try insert.execute(arguments: [row, index, photo.source.bytes, photo.payload])
    }
  }

  /// Evicts the least recently used pages until the limits hold.
  func evictPages(in db: Database) throws {
    let sums = try Row.fetchOne(
      db.cachedStatement(sql: "SELECT count(*), coalesce(sum(bytes), 0) FROM listing_page"))
    guard let sums else { return }
    var count = try sums.decode(Int.self, atIndex: 0)
    var bytes = try sums.decode(Int.self, atIndex: 1)
    let oldest = try db.cachedStatement(sql: "SELECT id, bytes FROM listing_page ORDER BY used LIMIT 1")
    let delete = try db.cachedStatement(sql: "DELETE FROM listing_page WHERE id = ?")
    while count > DiskCacheLimits.listingPages || bytes > limits.listingBytes, let row = try Row.fetchOne(oldest) {
      try delete.execute(arguments: [try row.decode(Int64.self, atIndex: 0)])
      bytes -= try row.decode(Int.self, atIndex: 1)
      count -= 1
    }
  }
}

extension PagePlace {
  /// The stored form of the cursor: empty for the first page, so that it differs from any provider's cursor.
  var storedCursor: String { cursor.map { "=\($0)" } ?? "" }
}
