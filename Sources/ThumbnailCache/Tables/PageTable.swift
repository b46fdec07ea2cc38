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

/// The pages of photo searches: the tables `listing_page` and `listing_photo`. Reads take tens of microseconds.
enum PageTable {
  /// - `listing_page` has a row per page of each search; `cursor` is empty for the first, else `=` and the provider's
  ///   cursor. `used` counts up like that of `recency`.
  /// - `listing_photo` has the photos of the pages. `source` leads to those that have thumbnails. Rows are removed with
  ///   their page; pages are evicted, least recently used first, beyond `DiskCacheLimits.listingBytes`.
  static let schema = """
    CREATE TABLE listing_page (
      id INTEGER PRIMARY KEY,
      provider TEXT NOT NULL,
      query TEXT NOT NULL,
      page_size INTEGER NOT NULL,
      cursor TEXT NOT NULL,
      next TEXT,
      total INTEGER,
      fetched_at REAL NOT NULL,
      used INTEGER NOT NULL,
      bytes INTEGER NOT NULL,
      UNIQUE (provider, query, page_size, cursor)
    );
    CREATE INDEX listing_page_used ON listing_page (used, bytes);
    CREATE TABLE listing_photo (
      id INTEGER PRIMARY KEY,
      page INTEGER NOT NULL,
      place INTEGER NOT NULL,
      source BLOB NOT NULL,
      data BLOB NOT NULL
    );
    CREATE INDEX listing_photo_page ON listing_photo (page, place);
    CREATE INDEX listing_photo_source ON listing_photo (source);
    CREATE TRIGGER listing_page_deleted AFTER DELETE ON listing_page BEGIN
      DELETE FROM listing_photo WHERE page = old.id;
    END;
    """

  /// The page at a place, with its row; nil when it is not stored, or its row is damaged. A damaged photo is left out.
  static func page(at place: PagePlace, in db: Database) throws -> (row: Int64, page: StoredPage)? {
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
        guard (try? readHead(of: &page, row)) != nil else { return nil }
      }
      if let photo = Self.photo(in: row, at: 4) { page.photos.append(photo) }
    }
    return id.map { (row: $0, page: page) }
  }

  private static func readHead(of page: inout StoredPage, _ row: Row) throws {
    page.next = try row.decode(String?.self, atIndex: 1)
    page.total = try row.decode(Int?.self, atIndex: 2)
    page.fetchedAt = try HistoryTable.date(row, 3)
  }

  /// The page sizes that a search's first page is stored with, most recently used first.
  static func pageSizes(provider: String, query: String, in db: Database) throws -> [Int] {
    try Int.fetchAll(
      db.cachedStatement(
        sql: """
          SELECT page_size FROM listing_page
          WHERE provider = ? AND query = ? AND cursor = '' AND typeof(page_size) = 'integer' ORDER BY used DESC
          """),
      arguments: [provider, query])
  }

  /// Photos whose source has a thumbnail, each in its most recently stored form, most recent first.
  static func cachedPhotos(after mark: Int64?, count: Int, in db: Database) throws -> CachedPhotos {
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
      photos: rows.compactMap { Self.photo(in: $0, at: 1) },
      next: rows.count < count ? nil : try rows.last?.decode(Int64.self, atIndex: 0))
  }

  /// The photo whose key and payload begin at a column; nil if there is none, or it is damaged.
  private static func photo(in row: Row, at index: Int) -> StoredPhoto? {
    guard let source = try? row.decode(Data?.self, atIndex: index), source.count == 16,
      let payload = try? row.decode(Data?.self, atIndex: index + 1)
    else { return nil }
    return StoredPhoto(source: SourceKey(bytes: source), payload: payload)
  }

  /// Makes a change.
  static func apply(_ change: PageChange, limits: DiskCacheLimits, in db: Database) throws {
    switch change {
    case .store(let page):
      try store(page, in: db)
      try evict(to: limits, in: db)
    case .used(let row):
      try db.run("UPDATE listing_page SET used = (SELECT max(used) + 1 FROM listing_page) WHERE id = ?", [row])
    case .removePhoto(let source):
      try db.run("DELETE FROM listing_photo WHERE source = ?", [source.bytes])
    }
  }

  private static func store(_ page: StoredPage, in db: Database) throws {
    let place = page.place
    try db.run(
      "DELETE FROM listing_page WHERE provider = ? AND query = ? AND page_size = ? AND cursor = ?",
      [place.provider, place.query, place.pageSize, place.storedCursor])
    // A photo's row and its index entries take about 64 bytes besides the photo.
    let bytes = page.photos.reduce(256) { $0 + $1.payload.count + 64 }
    try db.run(
      """
      INSERT INTO listing_page (provider, query, page_size, cursor, next, total, fetched_at, used, bytes)
      VALUES (?, ?, ?, ?, ?, ?, ?, (SELECT coalesce(max(used), 0) + 1 FROM listing_page), ?)
      """,
      [
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

  private static let bytesOfPage = CacheTotals.count("bytes")

  /// Evicts the least recently used pages until the limits hold.
  static func evict(to limits: DiskCacheLimits, in db: Database) throws {
    let sums = try Row.fetchOne(
      db.cachedStatement(sql: "SELECT count(*), coalesce(sum(\(bytesOfPage)), 0) FROM listing_page"))
    guard let sums else { return }
    var count = try sums.decode(Int.self, atIndex: 0)
    var bytes = try sums.decode(Int.self, atIndex: 1)
    let oldest = try db.cachedStatement(sql: "SELECT id, \(bytesOfPage) FROM listing_page ORDER BY used LIMIT 1")
    let delete = try db.cachedStatement(sql: "DELETE FROM listing_page WHERE id = ?")
    while count > DiskCacheLimits.listingPages || bytes > limits.listingBytes, let row = try Row.fetchOne(oldest) {
      try delete.execute(arguments: [try row.decode(Int64.self, atIndex: 0)])
      bytes -= try row.decode(Int.self, atIndex: 1)
      count -= 1
    }
  }
}

extension DiskCache {
  /// Stores a page, replacing an earlier one; returns when it is written.
  func store(_ page: StoredPage) async throws(DiskCacheError) {
    try await commits.stageAndWait(.pages(.store(page)))
  }

  /// Removes a photo from all pages; returns when that is written.
  func removePhoto(_ source: SourceKey) async throws(DiskCacheError) {
    try await commits.stageAndWait(.pages(.removePhoto(source)))
  }

  /// The page at a place, which counts as a use; nil when it is not stored.
  func page(at place: PagePlace) throws(DiskCacheError) -> StoredPage? {
    guard let found = try read({ try PageTable.page(at: place, in: $0) }) ?? nil else { return nil }
    try commits.stage(.pages(.used(row: found.row)))
    return found.page
  }

  /// The page sizes that a search's first page is stored with, most recently used first.
  func pageSizes(provider: String, query: String) throws(DiskCacheError) -> [Int] {
    try read { try PageTable.pageSizes(provider: provider, query: query, in: $0) } ?? []
  }

  /// Photos whose source has a thumbnail, each in its most recently stored form, most recent first.
  func cachedPhotos(after mark: Int64?, count: Int) throws(DiskCacheError) -> CachedPhotos {
    try read { try PageTable.cachedPhotos(after: mark, count: count, in: $0) } ?? CachedPhotos()
  }
}

extension PagePlace {
  /// The stored form of the cursor: empty for the first page, so that it differs from any provider's cursor.
  fileprivate var storedCursor: String { cursor.map { "=\($0)" } ?? "" }
}
