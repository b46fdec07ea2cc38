import GRDB

/// How many look-ups found their thumbnail on the disk, and how many did not.
struct LookupTally: Sendable, Equatable {
  var hits = 0
  var misses = 0

  var isEmpty: Bool { hits == 0 && misses == 0 }

  mutating func count(isHit: Bool) {
    if isHit { hits += 1 } else { misses += 1 }
  }

  /// Adds it to what the file has counted so far.
  func add(in db: Database) throws {
    try db.cachedStatement(sql: "UPDATE tally SET hits = hits + ?, misses = misses + ?")
      .execute(arguments: [hits, misses])
  }
}
