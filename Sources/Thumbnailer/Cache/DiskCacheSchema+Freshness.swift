extension DiskCacheSchema.Addition {
  /// What servers said with the pictures' bodies, a row for each URL of a picture; see `StoredAnswer`. Rows leave with
  /// their source. A source without any is one that an earlier version has stored: what stands in `source` counts then.
  static let freshness = DiskCacheSchema.Addition(
    creation: """
      CREATE TABLE IF NOT EXISTS freshness (
        source BLOB NOT NULL,
        url BLOB NOT NULL,
        address BLOB NOT NULL,
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
      CREATE TRIGGER IF NOT EXISTS freshness_left AFTER DELETE ON source BEGIN
        DELETE FROM freshness WHERE source = old.key;
      END;
      """,
    copied: [.init(name: "freshness", condition: "source IN (SELECT key FROM main.source)")])
}
