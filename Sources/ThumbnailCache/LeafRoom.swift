/// How much room is left on the page that the next piece of a thumbnail goes to, so that a thumbnail can be cut where
/// the page ends.
///
/// SQLite begins a new page where a row does not fit into the rest of the last one, and thumbnails of 2 kB leave nearly
/// half of each page of 4 kB empty. This follows SQLite's file format ("B-tree Pages", "Cell Payload Overflow Pages") for
/// rows of `piece` that are appended. It cannot see what others write or delete meanwhile; then it is wrong until a page
/// is begun, which is noticed. A wrong guess costs room on one page, and nothing else. A pure value.
struct LeafRoom: Sendable, Equatable {
  /// Less than this is left empty rather than filled with a piece that costs a row of its own. In bytes.
  static let leastPiece = 64
  private static let pageHeader = 8
  private static let usable = DiskCacheLimits.pageSize
  /// What a row may have in the tree itself; of a longer one the rest goes to overflow pages.
  private static let longestLocal = usable - 35
  private static let shortestLocal = (usable - 12) * 32 / 255 - 23
  private static let overflow = usable - 4

  /// The bytes that are left; nil when nothing is known.
  private(set) var bytes: Int?

  /// How long the first of two pieces ought to be. Nil where the whole fits, or nothing would be gained.
  func cut(_ length: Int, row: Int64) -> Int? {
    guard let bytes, Self.cell(length, row: row).bytes > bytes else { return nil }
    // The room that a row takes beside its blob, with the longest numbers in front of it.
    var first =
      min(bytes, Self.longestLocal) - (Self.cell(Self.longestLocal / 2, row: row).bytes - Self.longestLocal / 2)
    while first > 0, Self.cell(first, row: row).bytes > bytes { first -= 1 }
    return first >= Self.leastPiece && first < length ? first : nil
  }

  /// Notes that a piece was appended, for which the database took `pages` pages.
  mutating func wrote(_ length: Int, row: Int64, pages: Int) {
    let cell = Self.cell(length, row: row)
    if pages > cell.pages {
      bytes = Self.usable - Self.pageHeader - cell.bytes
    } else if let left = bytes {
      // More than there was: somebody has deleted rows, or others have begun another page.
      bytes = left >= cell.bytes ? left - cell.bytes : nil
    }
  }

  /// What a row takes of its page, and how many pages it takes beside it.
  static func cell(_ length: Int, row: Int64) -> (bytes: Int, pages: Int) {
    // The record's header: its own length, the number of the row as a null, the blob's type.
    let payload = 2 + varint(12 + 2 * length) + length
    let pointer = 2
    let front = pointer + varint(payload) + varint(Int(clamping: row))
    if payload <= longestLocal { return (front + payload, 0) }
    let even = shortestLocal + (payload - shortestLocal) % overflow
    let local = even <= longestLocal ? even : shortestLocal
    return (front + local + 4, (payload - local + overflow - 1) / overflow)
  }

  /// The length of a number in SQLite's own encoding.
  private static func varint(_ value: Int) -> Int {
    value < 0 ? 9 : min(9, max(1, (Int.bitWidth - value.leadingZeroBitCount + 6) / 7))
  }
}
