import Foundation

/// The database of a cache, changed behind the command's back by Python's own SQLite.
struct CacheFile {
  private let path: String

  /// The one in a cache's folder.
  init(_ cache: URL) throws {
    path = cache.appendingPathComponent("thumbnails-v2.sqlite").path
  }

  /// Runs statements, each by itself.
  func execute(_ sql: String) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "python3", "-c",
      "import sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None); db.executescript(sys.argv[2])",
      path, sql,
    ]
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw CocoaError(.fileWriteUnknown) }
  }
}
