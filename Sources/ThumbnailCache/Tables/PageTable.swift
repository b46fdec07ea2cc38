import Foundation
import GRDB
import ThumbnailCore

/// The pages of photo searches: the tables `listing_page` and `listing_photo`. Reads take tens of microseconds.
enum PageTable {
  /// - `listing_page` has a row per page of each search; `cursor` is empty for the first, else `=` and the provider's
  ///   cursor. `used` counts up like that of `recency`.
  /// - `listing_photo` has the photos of the pages. `source` links to a photo's thumbnails, if any. Rows are removed
  ///   with their page; pages are evicted, least recently used first, beyond `DiskCacheLimits.listingBytes`.
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

  /// The page at a place, with its row; nil if it is not stored or its row is damaged. A damaged photo is left out.
  static func page(at place: PagePlace, in db: Database) throws -> (row: Int64, page: StoredPage)? {
    // A single statement, so that a page is read whole even while it is being replaced.
    let rows = try db.rows(
      """
      SELECT l.id, l.next, l.total, l.fetched_at, p.source, p.data
      FROM listing_page l LEFT JOIN listing_photo p ON p.page = l.id
      WHERE l.provider = ? AND l.query = ? AND l.page_size = ? AND l.cursor = ? ORDER BY p.place
      """, [place.provider, place.query, place.pageSize, place.storedCursor])
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
    page.fetchedAt = try row.date(at: 3)
  }

  /// The page sizes that a search's first page is stored with, most recently used first.
  static func pageSizes(provider: String, query: String, in db: Database) throws -> [Int] {
    try Int.fetchAll(
      db.cachedStatement(
        sql: """
          SELECT page_size FROM listing_page
          WHERE provider = ? AND query = ? AND cursor = '' AND typeof(page_size) = 'integer' ORDER BY used DESC
          """), arguments: [provider, query])
  }

  /// Photos whose source has a thumbnail, each in its most recently stored form, most recent first.
  static func cachedPhotos(after mark: Int64?, count: Int, in db: Database) throws -> CachedPhotos {
    let rows = try db.rows(
      """
      SELECT p.id, p.source, p.data FROM listing_photo p
      WHERE p.id < ? AND EXISTS (SELECT 1 FROM source WHERE key = p.source)
        AND NOT EXISTS (SELECT 1 FROM listing_photo n WHERE n.source = p.source AND n.id > p.id)
      ORDER BY p.id DESC LIMIT ?
      """, [mark ?? .max, count])
    var (found, last, seen) = (CachedPhotos(), nil as Int64?, 0)
    while let row = try rows.next() {
      if let photo = Self.photo(in: row, at: 1) { found.photos.append(photo) }
      (last, seen) = (try row.decode(atIndex: 0), seen + 1)
    }
    if seen == count { found.next = last }
    return found
  }

  /// The photo whose key and payload begin at a column; nil if there is none or it is damaged.
  private static func photo(in row: Row, at index: Int) -> StoredPhoto? {
    guard let source = try? row.key(at: index), let payload = try? row.decode(Data?.self, atIndex: index + 1) else {
      return nil
    }
    return StoredPhoto(source: source, payload: payload)
  }

  /// Marks a page as used, for the order of eviction.
  static func use(_ row: Int64, in db: Database) throws {
    try db.run("UPDATE listing_page SET used = (SELECT max(used) + 1 FROM listing_page) WHERE id = ?", [row])
  }

  /// Removes a photo from all pages.
  static func removePhoto(_ source: SourceKey, in db: Database) throws {
    try db.run("DELETE FROM listing_photo WHERE source = ?", [source.bytes])
  }

  /// Stores a page, replacing an earlier one.
  static func store(_ page: StoredPage, _ limits: DiskCacheLimits, in db: Database) throws {
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
    for (index, photo) in page.photos.enumerated() {
      try db.run(
        "INSERT INTO listing_photo (page, place, source, data) VALUES (?, ?, ?, ?)",
        [row, index, photo.source.bytes, photo.payload])
    }
    try evict(to: limits, in: db)
  }

  private static let bytesOfPage = CacheTotals.count("bytes")

  /// Evicts the least recently used pages until the limits hold.
  static func evict(to limits: DiskCacheLimits, in db: Database) throws {
    let sums = try db.row("SELECT count(*), coalesce(sum(\(bytesOfPage)), 0) FROM listing_page")
    guard let sums else { return }
    var (count, bytes): (Int, Int) = (try sums.decode(atIndex: 0), try sums.decode(atIndex: 1))
    let oldest = "SELECT id, \(bytesOfPage) FROM listing_page ORDER BY used LIMIT 1"
    while count > DiskCacheLimits.listingPages || bytes > limits.listingBytes, let row = try db.row(oldest) {
      try db.run("DELETE FROM listing_page WHERE id = ?", [try row.decode(Int64.self, atIndex: 0)])
      bytes -= try row.decode(Int.self, atIndex: 1)
      count -= 1
    }
  }
}

extension PagePlace {
  /// The stored form of the cursor: empty for the first page, so that it differs from any provider's cursor.
  fileprivate var storedCursor: String { cursor.map { "=\($0)" } ?? "" }
}
