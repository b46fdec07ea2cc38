import GRDB

/// The number of disk hits and misses.
struct LookupTally: Sendable, Equatable {
  var hits = 0
  var misses = 0

  var isEmpty: Bool { hits == 0 && misses == 0 }

  mutating func count(isHit: Bool) {
    if isHit { hits += 1 } else { misses += 1 }
  }

  /// Adds it to the counts in the file.
  func add(in db: Database) throws {
    try db.cachedStatement(sql: "UPDATE tally SET hits = hits + ?, misses = misses + ?")
      .execute(arguments: [hits, misses])
  }
}
