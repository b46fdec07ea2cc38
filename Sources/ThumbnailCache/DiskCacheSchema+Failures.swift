extension DiskCacheSchema {
  /// Images that could not be fetched or decoded, one row per URL; see `RememberedFailure`. `id` counts up, so that the
  /// oldest are removed when there are too many.
  static let failures = """
    CREATE TABLE failure (
      id INTEGER PRIMARY KEY,
      source BLOB NOT NULL,
      url BLOB NOT NULL,
      code TEXT NOT NULL,
      reason TEXT NOT NULL,
      byte_limit INTEGER NOT NULL,
      pixel_limit INTEGER NOT NULL,
      memory_limit INTEGER NOT NULL,
      noted_at REAL NOT NULL,
      until REAL NOT NULL,
      UNIQUE (source, url)
    );
    """
}
