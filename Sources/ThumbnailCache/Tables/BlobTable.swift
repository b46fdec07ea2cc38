import Foundation
import GRDB

/// The table `piece`, which holds the bytes of each thumbnail in one or two rows.
///
/// The rows of thumbnail n have the ids 2n and 2n + 1, so they are adjacent and need no index.
enum BlobTable {
  /// Appends the bytes of a new thumbnail. Pass the same `space` for the next one.
  static func insert(_ data: Data, of thumbnail: Int64, _ space: inout PageSpace, in db: Database) throws {
    let cut = space.cut(data.count, row: 2 * thumbnail)
    let pieces = cut.map { [data.prefix($0), data.dropFirst($0)] } ?? [data]
    var pages = try db.pagesInUse()
    for (row, piece) in zip((2 * thumbnail)..., pieces) {
      try db.run("INSERT INTO piece (id, data) VALUES (?, ?)", [row, piece])
      let now = try db.pagesInUse()
      space.wrote(piece.count, row: row, pages: now - pages)
      pages = now
    }
  }
}

/// Tracks the free space on the page of the next piece, so that a thumbnail can be split at the page's end.
///
/// SQLite starts a new page if a row does not fit into the last one, so thumbnails of 2 kB would leave nearly half of
/// each page of 4 kB empty. This follows SQLite's file format ("B-tree Pages", "Cell Payload Overflow Pages") for rows
/// appended to `BlobTable`. After writes and deletions by others the estimate is wrong until a new page is started,
/// which is detected. A wrong estimate only wastes space on one page. A pure value.
struct PageSpace: Sendable, Equatable {
  /// Less space than this stays empty, because a piece needs its own row. In bytes.
  static let leastPiece = 64
  private static let pageHeader = 8
  private static let usable = DiskCacheLimits.pageSize
  /// The most bytes of a row in the B-tree page. The rest of a longer row goes to overflow pages.
  private static let longestLocal = usable - 35
  private static let shortestLocal = (usable - 12) * 32 / 255 - 23
  private static let overflow = usable - 4

  /// The free bytes; nil if unknown.
  private(set) var bytes: Int?

  /// The length of the first of two pieces. Nil if the thumbnail fits whole, or if splitting gains nothing.
  func cut(_ length: Int, row: Int64) -> Int? {
    guard let bytes, Self.cell(length, row: row).bytes > bytes else { return nil }
    // The overhead of a row besides its blob, with the longest varints.
    var first =
      min(bytes, Self.longestLocal) - (Self.cell(Self.longestLocal / 2, row: row).bytes - Self.longestLocal / 2)
    while first > 0, Self.cell(first, row: row).bytes > bytes { first -= 1 }
    return first >= Self.leastPiece && first < length ? first : nil
  }

  /// Records that a piece was appended, for which the database allocated `pages` pages.
  mutating func wrote(_ length: Int, row: Int64, pages: Int) {
    let cell = Self.cell(length, row: row)
    if pages > cell.pages {
      bytes = Self.usable - Self.pageHeader - cell.bytes
    } else if let left = bytes {
      // Our estimate was wrong: rows were deleted, or another process has started a new page.
      bytes = left >= cell.bytes ? left - cell.bytes : nil
    }
  }

  /// The bytes that a row takes on its page, and the number of its overflow pages.
  static func cell(_ length: Int, row: Int64) -> (bytes: Int, pages: Int) {
    // The record's header has its own length, the row id as a null, and the blob's type.
    let payload = 2 + varint(12 + 2 * length) + length
    let pointer = 2
    let front = pointer + varint(payload) + varint(Int(clamping: row))
    if payload <= longestLocal { return (front + payload, 0) }
    let even = shortestLocal + (payload - shortestLocal) % overflow
    let local = even <= longestLocal ? even : shortestLocal
    return (front + local + 4, (payload - local + overflow - 1) / overflow)
  }

  /// The length of a number in SQLite's varint encoding.
  private static func varint(_ value: Int) -> Int {
    value < 0 ? 9 : min(9, max(1, (Int.bitWidth - value.leadingZeroBitCount + 6) / 7))
  }
}
