extension DiskCacheSchema {
  /// The pages of photo searches.
  ///
  /// - `listing_page` has a row per page of each search; `cursor` is empty for the first, else `=` and the provider's
  ///   cursor. `used` counts up like that of `recency`.
  /// - `listing_photo` has the photos of the pages. `source` leads to those that have thumbnails. Rows are removed with
  ///   their page; pages are evicted, least recently used first, beyond `DiskCacheLimits.listingBytes`.
  static let listings = """
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
}
