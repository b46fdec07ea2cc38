import Glibc
import ThumbnailCore

/// The latest rows of a plane, as many as the window of one new row needs.
///
/// It copies rows into memory of its own, unless they last; then it only keeps their addresses.
final class RowWindow {
  private let height: Int
  private let capacity: Int
  private let used: Range<Int>
  private let rowBytes: Int
  private let memory: UnsafeMutableRawPointer
  /// The addresses of the rows, at their index modulo `capacity`, twice: so that a window is always contiguous.
  private let rows: UnsafeMutablePointer<UnsafeRawPointer>
  /// The index of the next row to arrive.
  private var end = 0
  /// The first row that is still needed.
  private var start = 0

  /// A window of at most `count` rows of a plane of `height` rows. Only the bytes `used` of each row are read.
  init(height: Int, count: Int, rowBytes: Int, used: Range<Int>) throws(CodecError) {
    (self.height, capacity, self.used, self.rowBytes) = (height, min(count, height), used, rowBytes)
    guard let memory = malloc(max(1, capacity * rowBytes)) else { throw .outOfMemory }
    self.memory = memory
    rows = .allocate(capacity: 2 * capacity)
    rows.initialize(repeating: UnsafeRawPointer(memory), count: 2 * capacity)
  }

  deinit {
    free(memory)
    rows.deallocate()
  }

  /// Adds the next row. It is dropped at once if no window needs it, and ignored beyond the plane's height.
  func append(_ row: UnsafeRawPointer, isLasting: Bool) {
    guard end < height else { return }
    defer { end += 1 }
    guard end >= start else { return }
    let slot = end % capacity
    var address = row
    if !isLasting {
      let copy = memory + slot * rowBytes
      memcpy(copy + used.lowerBound, row + used.lowerBound, used.count)
      address = UnsafeRawPointer(copy)
    }
    rows[slot] = address
    rows[slot + capacity] = address
  }

  /// Declares that no further window begins before a row.
  func drop(before row: Int) { start = row }

  /// Whether all rows in a range have arrived, as far as they are within the plane.
  func has(_ range: Range<Int>) -> Bool { min(range.upperBound, height) <= end }

  /// Passes the addresses of up to `count` rows from `first` on: fewer where the plane ends.
  @inline(__always)
  func withRows(from first: Int, count: Int, _ body: (UnsafePointer<UnsafeRawPointer>, Int) -> Void) {
    body(UnsafePointer(rows + first % capacity), min(count, height - first))
  }
}
