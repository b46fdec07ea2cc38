import GRDB

/// The schema of the disk cache.
///
/// The major version is part of the file's name, so a program with another schema uses another file. A file with
/// additional tables or columns of a later program can be used. `application_id` distinguishes the file from those of
/// other programs.
enum DiskCacheSchema {
  /// Raised when programs of the previous version can no longer use the file.
  static let majorVersion = 2
  /// "Thmb" in ASCII.
  static let applicationID = 0x5468_6D62
  /// Where it ends in the header of a database file, as SQLite documents it.
  static let applicationEnd = 72

  /// Sets the page size and modes, which must precede the first table, then creates the tables and triggers.
  static func create(in db: Database) throws {
    try db.execute(sql: "PRAGMA page_size = \(DiskCacheLimits.pageSize); PRAGMA auto_vacuum = INCREMENTAL")
    try db.execute(sql: "PRAGMA journal_mode = WAL")
    try db.inTransaction(.immediate) {
      let identity = "PRAGMA application_id = \(applicationID); PRAGMA user_version = 1"
      for sql in [
        tables, triggers, identity, CacheTotals.schema, HistoryTable.schema, PageTable.schema, unused,
      ] {
        try db.execute(sql: sql)
      }
      return .commit
    }
  }

  /// - `source` and `thumbnail` have short rows that are appended and refer to each other by id. Only one index is in
  ///   the random order of the keys, which fills pages to two thirds.
  /// - `source_host` finds images by host and fetch time: 25 ms for an overview of 100,000. It is also the order in
  ///   which the cache is listed and pruned, page by page.
  /// - `thumbnail` has all data of a hit except the bytes, which are in `piece`, split at page ends (`PageSpace`).
  /// - `variant` has the text of each variant once. Rows are never removed, because there are few.
  /// - `recency` is small and dense, so recording a hundred uses rewrites a few pages, not a hundred rows with blobs.
  ///   Its order is a sequence number, because clocks jump.
  private static let tables = """
    CREATE TABLE source (
      id INTEGER PRIMARY KEY,
      key BLOB NOT NULL UNIQUE,
      location TEXT NOT NULL,
      host TEXT NOT NULL,
      fetched_at REAL NOT NULL,
      width INTEGER NOT NULL,
      height INTEGER NOT NULL,
      format TEXT NOT NULL,
      bytes INTEGER NOT NULL
    );
    CREATE INDEX source_host ON source (host, fetched_at);
    CREATE TABLE variant (
      id INTEGER PRIMARY KEY,
      token TEXT NOT NULL UNIQUE
    );
    CREATE TABLE thumbnail (
      id INTEGER PRIMARY KEY,
      source INTEGER NOT NULL,
      variant INTEGER NOT NULL,
      width INTEGER NOT NULL,
      height INTEGER NOT NULL,
      format TEXT NOT NULL,
      source_width INTEGER NOT NULL,
      source_height INTEGER NOT NULL,
      source_format TEXT NOT NULL,
      source_bytes INTEGER NOT NULL,
      checksum INTEGER NOT NULL,
      bytes INTEGER NOT NULL,
      placeholder BLOB,
      source_preview TEXT,
      UNIQUE (source, variant)
    );
    CREATE TABLE piece (
      id INTEGER PRIMARY KEY,
      data BLOB NOT NULL
    );
    CREATE TABLE recency (
      id INTEGER PRIMARY KEY,
      used INTEGER NOT NULL,
      bytes INTEGER NOT NULL
    );
    CREATE INDEX recency_used ON recency (used, bytes);
    """

  /// Update `recency` and `total`, and remove a source with its last thumbnail.
  private static let triggers = """
    CREATE TRIGGER thumbnail_inserted AFTER INSERT ON thumbnail BEGIN
      INSERT INTO recency
        VALUES (new.id, (SELECT coalesce(max(used), 0) + 1 FROM recency), new.bytes);
      UPDATE total SET payload = payload + new.bytes;
    END;
    CREATE TRIGGER thumbnail_deleted AFTER DELETE ON thumbnail BEGIN
      UPDATE total SET payload = payload - coalesce((SELECT bytes FROM recency WHERE id = old.id), old.bytes);
      DELETE FROM recency WHERE id = old.id;
      DELETE FROM piece WHERE id BETWEEN 2 * old.id AND 2 * old.id + 1;
      DELETE FROM source
        WHERE id = old.source AND NOT EXISTS (SELECT 1 FROM thumbnail WHERE source = old.source);
    END;
    """

  /// Adds columns and tables that files of earlier programs lack. Those programs can still use the file.
  static func complete(in db: Database) throws {
    let columns = try String.fetchAll(db, sql: "SELECT name FROM pragma_table_info('thumbnail')")
    for (name, type) in [("placeholder", "BLOB"), ("source_preview", "TEXT")]
    where !columns.contains(name) {
      try db.execute(sql: "ALTER TABLE thumbnail ADD COLUMN \(name) \(type)")
    }
  }

  /// Tables that this program does not use. Without `micro`, 0.10.0 opens no file for reading alone; it stores there, by
  /// the ids of thumbnails, what the trigger removes with them. Without `tally`, and `census` and its triggers, it takes
  /// a file for damaged.
  private static let unused = """
    CREATE TABLE micro (
      id INTEGER PRIMARY KEY,
      checksum INTEGER NOT NULL,
      data BLOB NOT NULL
    );
    CREATE TRIGGER micro_thumbnail_deleted AFTER DELETE ON thumbnail BEGIN
      DELETE FROM micro WHERE id = old.id;
    END;
    CREATE TABLE tally (id INTEGER PRIMARY KEY, hits, misses);
    CREATE TABLE census (variant, format, thumbnails, bytes, PRIMARY KEY (variant, format)) WITHOUT ROWID;
    CREATE TRIGGER census_inserted AFTER INSERT ON thumbnail BEGIN SELECT 1; END;
    CREATE TRIGGER census_deleted AFTER DELETE ON thumbnail BEGIN SELECT 1; END;
    """

  private static let parts = [
    "source", "variant", "thumbnail", "piece", "recency", "recency_used", "total", "thumbnail_inserted",
    "thumbnail_deleted", "freshness", "freshness_left", "failure", "source_host",
    "listing_page", "listing_photo", "listing_page_deleted",
  ]

  /// The state of a file that was opened.
  enum State {
    case empty
    /// It has no tables, because its creation was interrupted by a kill or a full disk.
    case unfinished
    case usable
    /// It belongs to another program, or is incomplete.
    case unusable(reason: String, isOurs: Bool)
  }

  /// Inspects a file without changing it.
  ///
  /// - Throws: `DatabaseError` if it cannot be read at all.
  static func inspect(_ db: Database) throws -> State {
    if try db.integer("PRAGMA page_count") == 0 { return .empty }
    let application = try db.integer("PRAGMA application_id")
    if try application == 0 && db.integer("SELECT count(*) FROM sqlite_schema") == 0 { return .unfinished }
    guard application == applicationID else {
      return .unusable(
        reason: "it belonged to another program, and is kept with the extension .damaged", isOurs: false)
    }
    guard try db.integer("PRAGMA user_version") >= 1,
      try db.integer("PRAGMA auto_vacuum") == 2,
      try Set(String.fetchAll(db, sql: "SELECT name FROM sqlite_schema")).isSuperset(of: parts),
      try db.integer("SELECT count(*) FROM total") == 1
    else { return .unusable(reason: "its tables are incomplete", isOurs: true) }
    return .usable
  }
}
