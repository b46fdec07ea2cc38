import GRDB

/// The table `total`, which has one row: the bytes of all thumbnails.
///
/// Triggers update it in the transaction that changes the thumbnails, so it is exact with several writers.
enum CacheTotals {
  static let schema = """
    CREATE TABLE total (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      payload INTEGER NOT NULL
    );
    INSERT INTO total VALUES (1, 0);
    """

  /// SQL for a column with a number of bytes or thumbnails that gives a plausible number even for a damaged row, so
  /// that sums neither fail nor overflow. At most 2⁴⁰, of which 8 million can be added.
  static func count(_ column: String) -> String { "max(0, min(coalesce(CAST(\(column) AS INTEGER), 0), 1 << 40))" }

  /// The bytes of all thumbnails. At most 2⁶⁰, and never negative.
  static func payload(in db: Database) throws -> Int {
    try db.integer("SELECT max(0, min(coalesce(CAST(payload AS INTEGER), 0), 1 << 60)) FROM total")
  }

  /// Stores a new count. Blocks writers: half a second with 100,000 thumbnails.
  static func recount(in db: Database) throws {
    try db.execute(sql: "UPDATE total SET payload = (SELECT coalesce(sum(bytes), 0) FROM thumbnail)")
  }
}
