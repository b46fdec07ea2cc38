extension DiskCacheSchema {
  /// One row that counts the hits and misses of all processes since the file was created. It is updated along with
  /// other changes, never for a look-up alone.
  static let tally = """
    CREATE TABLE tally (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      hits INTEGER NOT NULL,
      misses INTEGER NOT NULL
    );
    INSERT INTO tally VALUES (1, 0, 0);
    """
}
