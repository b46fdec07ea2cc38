import GRDB

/// Removing what is asked for, in small transactions that each give their pages back.
extension CacheWriter {
  /// Removes the pictures of the next page.
  func removePictures(_ pages: inout PicturePages, atMost most: Int) throws -> CachePruning.Outcome {
    var next = pages
    let outcome = try measured { db in
      for picture in try next.next(most, in: db) {
        try db.cachedStatement(sql: "DELETE FROM thumbnail WHERE source = ?").execute(arguments: [picture.row])
        // One without thumbnails is left otherwise.
        try db.cachedStatement(sql: "DELETE FROM source WHERE id = ?").execute(arguments: [picture.row])
      }
    }
    pages = next
    return outcome
  }

  /// Removes the thumbnails that were not used for longest, as far as the rest takes more than `bytes`.
  func removeUnused(toBytes bytes: Int, atMost most: Int) throws -> CachePruning.Outcome {
    try measured { db in _ = try evict(in: db, toPayload: bytes, atMost: most) }
  }

  /// Gives the pages back that are free, up to a number.
  ///
  /// - Returns: Whether none is left.
  func giveBackPages(atMost most: Int) throws -> Bool {
    var free = 0
    try transaction { db in
      try db.execute(sql: "PRAGMA incremental_vacuum(\(most))")
      free = try integer("PRAGMA freelist_count", in: db)
    }
    return free == 0
  }

  /// Runs `body` in a transaction and tells by how much the cache has become smaller.
  private func measured(_ body: (Database) throws -> Void) throws -> CachePruning.Outcome {
    var outcome = CachePruning.Outcome()
    try transaction { db in
      let thumbnails = try integer("SELECT count(*) FROM recency", in: db)
      let bytes = try integer("SELECT payload FROM total", in: db)
      try body(db)
      outcome.thumbnails = thumbnails - (try integer("SELECT count(*) FROM recency", in: db))
      outcome.bytes = bytes - (try integer("SELECT payload FROM total", in: db))
      // At once: SQLite looks for each page it gives back in the whole list of free ones.
      try db.execute(sql: "PRAGMA incremental_vacuum(\(limits.vacuumPages))")
    }
    return outcome
  }
}
