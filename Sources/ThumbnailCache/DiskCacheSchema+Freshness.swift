extension DiskCacheSchema {
  /// The metadata of responses, one row per URL of an image; see `StoredResponse`. Rows are removed with their source.
  /// `address` is null if it equals `url`.
  static let freshness = """
    CREATE TABLE freshness (
      source INTEGER NOT NULL,
      url BLOB NOT NULL,
      address BLOB,
      confirmed_at REAL NOT NULL,
      expires_at REAL NOT NULL,
      etag TEXT,
      last_modified TEXT,
      cache_control TEXT,
      expires TEXT,
      vary TEXT,
      length INTEGER,
      PRIMARY KEY (source, url)
    ) WITHOUT ROWID;
    CREATE TRIGGER freshness_left AFTER DELETE ON source BEGIN
      DELETE FROM freshness WHERE source = old.id;
    END;
    """
}
