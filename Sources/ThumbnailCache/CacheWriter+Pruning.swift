import GRDB

/// Pruning, in small transactions that each return their free pages to the file system.
extension CacheWriter {
  /// Removes the images of the next portion.
  func removePictures(_ pages: inout PicturePages, atMost most: Int) throws -> CachePruning.Outcome {
    var next = pages
    let outcome = try measured { db in
      for picture in try next.next(most, in: db) {
        try db.cachedStatement(sql: "DELETE FROM thumbnail WHERE source = ?").execute(arguments: [picture.row])
        // The trigger deletes the source with its last thumbnail; this deletes one that had none.
        try db.cachedStatement(sql: "DELETE FROM source WHERE id = ?").execute(arguments: [picture.row])
      }
    }
    pages = next
    return outcome
  }

  /// Removes the least recently used thumbnails until the rest takes at most `bytes`.
  func removeUnused(toBytes bytes: Int, atMost most: Int) throws -> CachePruning.Outcome {
    try measured { db in _ = try evict(in: db, toPayload: bytes, atMost: most) }
  }

  /// Returns free pages to the file system, up to a number.
  ///
  /// - Returns: Whether no free page is left.
  func giveBackPages(atMost most: Int) throws -> Bool {
    var free = 0
    try transaction { db in
      try db.execute(sql: "PRAGMA incremental_vacuum(\(most))")
      free = try integer("PRAGMA freelist_count", in: db)
    }
    return free == 0
  }

  /// Runs `body` in a transaction and returns what it removed.
  private func measured(_ body: (Database) throws -> Void) throws -> CachePruning.Outcome {
    var outcome = CachePruning.Outcome()
    try transaction { db in
      let thumbnails = try integer("SELECT count(*) FROM recency", in: db)
      let bytes = try integer("SELECT payload FROM total", in: db)
      try body(db)
      outcome.thumbnails = thumbnails - (try integer("SELECT count(*) FROM recency", in: db))
      outcome.bytes = bytes - (try integer("SELECT payload FROM total", in: db))
      // Done right away, since SQLite searches the whole list of free pages for each page it returns.
      try db.execute(sql: "PRAGMA incremental_vacuum(\(limits.vacuumPages))")
    }
    return outcome
  }
}
