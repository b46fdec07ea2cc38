/// The database of a cache, changed behind the command's back by Python's own SQLite.
struct CacheFile {
  private let path: String

  /// The one in a cache's folder.
  init(_ cache: URL) throws {
    path = cache.appendingPathComponent("thumbnails-v2.sqlite").path
  }

  /// Whether SQLite finds nothing wrong with the file, and the total is that of the thumbnails.
  func isWhole() throws -> Bool {
    do {
      try run(
        """
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("SELECT sum(bytes) IS (SELECT payload FROM total) FROM thumbnail").fetchone() == (1,)
        """, "")
      return true
    } catch is CocoaError {
      return false
    }
  }

  /// Runs statements, each by itself.
  func execute(_ sql: String) throws { try run("db.executescript(sys.argv[2])", sql) }

  private func run(_ script: String, _ sql: String) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "python3", "-c",
      "import sqlite3, sys\ndb = sqlite3.connect(sys.argv[1], isolation_level=None)\n" + script,
      path, sql,
    ]
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw CocoaError(.fileWriteUnknown) }
  }
}
