extension DiskCacheSchema {
  /// Counts that describe the whole cache without reading it.
  ///
  /// - `census` counts the thumbnails of each variant and format, kept by triggers within the transaction that changes
  ///   them.
  /// - `source_host` finds images by host and fetch time: 25 ms for an overview of 100,000. It is also the order in
  ///   which the cache is listed and pruned, page by page.
  static let census = """
    CREATE INDEX source_host ON source (host, fetched_at);
    CREATE TABLE census (
      variant INTEGER NOT NULL,
      format TEXT NOT NULL,
      thumbnails INTEGER NOT NULL,
      bytes INTEGER NOT NULL,
      PRIMARY KEY (variant, format)
    ) WITHOUT ROWID;
    CREATE TRIGGER census_inserted AFTER INSERT ON thumbnail BEGIN
      INSERT INTO census VALUES (new.variant, new.format, 1, new.bytes)
        ON CONFLICT DO UPDATE SET thumbnails = thumbnails + 1, bytes = bytes + excluded.bytes;
    END;
    CREATE TRIGGER census_deleted AFTER DELETE ON thumbnail BEGIN
      UPDATE census SET thumbnails = thumbnails - 1, bytes = bytes - old.bytes
        WHERE variant = old.variant AND format = old.format;
      DELETE FROM census WHERE variant = old.variant AND format = old.format AND thumbnails <= 0;
    END;
    """
}
