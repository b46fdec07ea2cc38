extension DiskCacheSchema.Addition {
  /// What answers questions about the whole cache without reading it.
  ///
  /// - `census` counts the thumbnails of each variant and format, kept by triggers within the transaction that changes
  ///   them. Counting the rows themselves takes a second for 100,000, since each lies on a page of its own with its blob.
  /// - `source_host` finds pictures by their host and the time they were fetched: 25 ms for an overview of 100,000. Also
  ///   the order in which the cache is listed and pruned, page by page.
  static let census = DiskCacheSchema.Addition(
    creation: """
      CREATE INDEX IF NOT EXISTS source_host ON source (host, fetched_at);
      CREATE TABLE IF NOT EXISTS census (
        variant TEXT NOT NULL,
        format TEXT NOT NULL,
        thumbnails INTEGER NOT NULL,
        bytes INTEGER NOT NULL,
        PRIMARY KEY (variant, format)
      ) WITHOUT ROWID;
      CREATE TRIGGER IF NOT EXISTS census_inserted AFTER INSERT ON thumbnail BEGIN
        INSERT INTO census VALUES (new.variant, new.format, 1, length(new.data))
          ON CONFLICT DO UPDATE SET thumbnails = thumbnails + 1, bytes = bytes + excluded.bytes;
      END;
      CREATE TRIGGER IF NOT EXISTS census_deleted AFTER DELETE ON thumbnail BEGIN
        UPDATE census SET thumbnails = thumbnails - 1, bytes = bytes - length(old.data)
          WHERE variant = old.variant AND format = old.format;
        DELETE FROM census WHERE variant = old.variant AND format = old.format AND thumbnails <= 0;
      END;
      INSERT INTO census
        SELECT t.variant, t.format, count(*), sum(r.bytes) FROM thumbnail t JOIN recency r ON r.id = t.id
        WHERE NOT EXISTS (SELECT 1 FROM census) GROUP BY t.variant, t.format;
      """,
    // The triggers count what is copied.
    copied: [])
}
