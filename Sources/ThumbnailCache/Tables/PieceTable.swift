import Foundation
import GRDB
import Synchronization

/// The table `piece`, which holds the bytes of each thumbnail in one or two rows.
///
/// The rows of thumbnail n have the ids 2n and 2n + 1, so that they are adjacent and found without an index.
enum PieceTable {
  /// The rows of one thumbnail, as a condition on `piece` joined to `thumbnail`.
  static let ofThumbnail = "p.id BETWEEN 2 * t.id AND 2 * t.id + 1"

  /// The rows of the thumbnails after `start`, up to and including `end`.
  static func rows(after start: Int64, through end: Int64) -> ClosedRange<Int64> {
    let first = (start &+ 1).multipliedReportingOverflow(by: 2)
    let last = end.multipliedReportingOverflow(by: 2)
    let lower = start == .max ? .max : first.overflow ? .min : first.partialValue
    return lower...max(lower, last.overflow ? .max : last.partialValue + 1)
  }
}

/// Appends pieces. Used by one thread; remembers the room on the last page from one thumbnail to the next.
final class PieceWriter: Sendable {
  private let room = Mutex(LeafRoom())

  /// Writes the bytes of a new thumbnail.
  func write(_ data: Data, of thumbnail: Int64, in db: Database) throws {
    var room = room.withLock { $0 }
    let insert = try db.cachedStatement(sql: "INSERT INTO piece (id, data) VALUES (?, ?)")
    let cut = room.cut(data.count, row: 2 * thumbnail)
    let pieces = cut.map { [data.prefix($0), data.dropFirst($0)] } ?? [data]
    var pages = try db.pagesInUse()
    for (row, piece) in zip((2 * thumbnail)..., pieces) {
      try insert.execute(arguments: [row, piece])
      let now = try db.pagesInUse()
      room.wrote(piece.count, row: row, pages: now - pages)
      pages = now
    }
    self.room.withLock { $0 = room }
  }
}
