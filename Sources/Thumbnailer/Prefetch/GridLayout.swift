public import Foundation
public import ThumbnailCore

/// The layout of a scrolling grid: maps scroll offsets to visible items, and items to frames.
///
/// Cells of one size are arranged in rows of `columns`, with `spacing` between them. All lengths are points; offsets
/// increase downwards from the upper edge of the content. A value without side effects, whose queries take the same time
/// for any number of items.
///
///     let layout = GridLayout(columns: 2, cell: PixelSize(400, 400), scale: 2, itemCount: 100_000)
///     layout.items(from: 4_000, height: 1_200)   // 40..<52
public struct GridLayout: Sendable, Hashable {
  /// The number of cells per row.
  public let columns: Int
  /// The size of a cell in device pixels, which is that of its thumbnail.
  public let cell: PixelSize
  /// Device pixels per point.
  public let scale: Double
  /// The gap between two columns, and between two rows, in points.
  public let spacing: Double
  /// The number of items; never negative.
  public internal(set) var itemCount: Int
  /// The size of a cell in points.
  private let (width, height): (Double, Double)

  /// A layout. Values out of range are replaced by the nearest valid one, and what is no number by the default.
  ///
  /// - Parameters:
  ///   - columns: The number of cells per row; from 1 to a million.
  ///   - cell: The size of a cell in device pixels, as requests have it: that of a valid thumbnail.
  ///   - scale: Device pixels per point, more than 0.
  ///   - spacing: Between columns and between rows, in points.
  ///   - itemCount: A prefetcher replaces it by that of its items.
  public init(columns: Int, cell: PixelSize, scale: Double = 1, spacing: Double = 0, itemCount: Int = 0) {
    func side(_ pixels: Int) -> Int { min(max(1, pixels), PixelSize.longestThumbnailSide) }
    self.columns = min(max(1, columns), 1_000_000)
    self.cell = PixelSize(side(cell.width), side(cell.height))
    self.scale = scale > 0 && scale.isFinite ? scale : 1
    self.spacing = spacing.isFinite ? max(0, spacing) : 0
    self.itemCount = max(0, itemCount)
    (width, height) = (Double(self.cell.width) / self.scale, Double(self.cell.height) / self.scale)
  }

  private var rowCount: Int { itemCount / columns + (itemCount % columns == 0 ? 0 : 1) }

  /// The distance between the upper edges of two rows, in points.
  public var rowPitch: Double { height + spacing }

  /// The width of the content, in points.
  public var contentWidth: Double { Double(columns) * (width + spacing) - spacing }

  /// The height of the content, in points.
  public var contentHeight: Double { itemCount == 0 ? 0 : Double(rowCount) * rowPitch - spacing }

  /// The frame of an item; nil if there is no such item.
  public func frame(ofItem index: Int) -> CGRect? {
    guard (0..<itemCount).contains(index) else { return nil }
    let (row, column) = index.quotientAndRemainder(dividingBy: columns)
    return CGRect(
      x: Double(column) * (width + spacing), y: Double(row) * rowPitch, width: width, height: height)
  }

  /// The items at least partly visible in a view of `height` points at a scroll offset. Offsets beyond the content are
  /// valid: only the visible part of the content counts.
  public func items(from offset: Double, height: Double) -> Range<Int> {
    guard height > 0, offset.isFinite, height.isFinite else { return 0..<0 }
    let first = firstItem(at: offset) { Double($0) * rowPitch + self.height > offset }
    let end = firstItem(at: offset + height) { Double($0) * rowPitch >= offset + height }
    return first..<max(first, end)
  }

  /// The number of items needed to fill the content down to `bottom`.
  public func itemCount(fillingDownTo bottom: Double) -> Int {
    guard bottom.isFinite else { return itemCount }
    // Clamped, since an extreme `bottom` would overflow the number of rows.
    let rows = min(max(0, (bottom / rowPitch).rounded(.up)), 1e12)
    return max(itemCount, Int(rows) * columns)
  }

  /// The first item of the first row for which `isFound` is true, near `y`; it must be false for all rows above that
  /// and true for all below. The number of items if there is none.
  private func firstItem(at y: Double, isFound: (_ row: Int) -> Bool) -> Int {
    let rows = rowCount
    // The floating-point division may be off by one row.
    var row = Int(min(max((y / rowPitch).rounded(.down) - 1, 0), Double(rows)))
    while row < rows, !isFound(row) { row += 1 }
    return min(row * columns, itemCount)
  }
}

extension RandomAccessCollection {
  /// The first index whose element satisfies the predicate, which must be false for all elements before it and true for
  /// all after it; `endIndex` if there is none.
  package func partitioningIndex(where predicate: (Element) -> Bool) -> Index {
    var low = startIndex
    var count = self.count
    while count > 0 {
      let middle = index(low, offsetBy: count / 2)
      if predicate(self[middle]) {
        count /= 2
      } else {
        low = index(after: middle)
        count -= count / 2 + 1
      }
    }
    return low
  }
}
