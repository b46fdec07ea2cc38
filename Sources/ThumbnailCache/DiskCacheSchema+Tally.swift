extension DiskCacheSchema.Addition {
  /// One row that counts look-ups over all runs and processes, since the file was begun. It is added to along with other
  /// changes, never for a look-up alone.
  static let tally = DiskCacheSchema.Addition(
    creation: """
      CREATE TABLE IF NOT EXISTS tally (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        hits INTEGER NOT NULL,
        misses INTEGER NOT NULL
      );
      INSERT OR IGNORE INTO tally VALUES (1, 0, 0);
      """,
    copied: [.init(name: "tally")])
}
