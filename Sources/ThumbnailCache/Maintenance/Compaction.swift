import GRDB

/// Removes all thumbnails that were used before a moment, in an order in which few pages of the file have to be moved.
///
/// The file shrinks from its end: what is kept there moves to where something was removed. So thumbnails are removed from
/// both ends towards the middle: at the end all that are to go, and at the beginning as many as are kept at the end. Rows
/// are mostly in the order of their ids; where they are not, more pages move, and the result is the same.
struct Compaction: Sendable {
  /// The number of `recency` from which thumbnails are kept.
  private let cutoff: Int64
  /// The number of rows in one step.
  private let rows: Int
  /// What is left to look at: the rows between these.
  private var low = Int64.min
  private var high = Int64.max

  init(cutoff: Int64, rows: Int) { (self.cutoff, self.rows) = (cutoff, rows) }

  /// Whether there is nothing left to do.
  var isDone: Bool { low >= high || cutoff == .min }

  /// Removes about as many as the number of rows.
  mutating func step(in db: Database) throws {
    // Without the index, which would be searched whole for each portion.
    let between = "SELECT id FROM recency NOT INDEXED WHERE id > ? AND id < ?"
    let first = try Int64.fetchOne(
      db.cachedStatement(sql: "SELECT min(id) FROM (\(between) ORDER BY id DESC LIMIT ?)"),
      arguments: [low, high, rows])
    guard let first else { return high = low }
    let removed = try remove(from: first, below: high, in: db)
    high = first
    if removed >= rows { return }
    let last = try Int64.fetchOne(
      db.cachedStatement(sql: "SELECT max(id) FROM (\(between) AND used < ? ORDER BY id LIMIT ?)"),
      arguments: [low, high, cutoff, rows - removed])
    guard let last else { return high = low }
    _ = try remove(from: low + 1, below: last + 1, in: db)
    low = last
  }

  private func remove(from first: Int64, below end: Int64, in db: Database) throws -> Int {
    try db.run(
      """
      DELETE FROM thumbnail
      WHERE id IN (SELECT id FROM recency NOT INDEXED WHERE id >= ? AND id < ? AND used < ?)
      """, [first, end, cutoff])
    return db.changesCount
  }
}
