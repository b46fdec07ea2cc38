public import Foundation
public import ThumbnailCore

/// The layout of a scrolling grid: maps scroll offsets to visible items, and items to frames.
///
/// Cells of one size are arranged in rows of `columns`, in sections one below the other; each section has a header's
/// height, insets around its cells, and `spacing` between them. Items have a flat index over all sections, from 0. All
/// lengths are points; offsets increase downwards from the upper edge of the content.
///
/// A value without side effects. A query takes time logarithmic in the number of sections, whatever the number of
/// items.
///
///     let layout = GridLayout(
///       columns: 2, cell: PixelSize(400, 400), scale: 2, sections: [.init(itemCount: 100_000)])
///     layout.items(from: 4_000, height: 1_200)   // 40..<52
public struct GridLayout: Sendable, Hashable {
  /// The items under one header.
  public struct Section: Sendable, Hashable {
    /// The number of its items; never negative.
    package let itemCount: Int
    /// The height of its header, in points; 0 for none.
    package let headerHeight: Double

    /// A section. A negative count or height is replaced by 0.
    public init(itemCount: Int, headerHeight: Double = 0) {
      self.itemCount = max(0, itemCount)
      self.headerHeight = headerHeight.isFinite ? max(0, headerHeight) : 0
    }
  }

  /// The margins around the cells of a section, in points.
  public struct Insets: Sendable, Hashable {
    /// Above the first row, below the section's header.
    package var top: Double
    /// Left of the first column.
    package var left: Double
    /// Below the last row.
    package var bottom: Double
    /// Right of the last column.
    package var right: Double

    /// Insets; none by default.
    public init(top: Double = 0, left: Double = 0, bottom: Double = 0, right: Double = 0) {
      (self.top, self.left, self.bottom, self.right) = (top, left, bottom, right)
    }
  }

  /// The number of cells per row.
  package let columns: Int
  /// The size of a cell in device pixels, which is that of its thumbnail.
  package let cell: PixelSize
  /// Device pixels per point.
  package let scale: Double
  /// The gap between two columns, and between two rows, in points.
  package let spacing: Double
  /// The margins around the cells of each section.
  package let insets: Insets
  /// The sections from the top down.
  package private(set) var sections: [Section]

  /// The upper edge of each section, followed by the content's height.
  private var tops: [Double] = [0]
  /// The flat index of each section's first item, followed by the number of items.
  private var firsts: [Int] = [0]
  /// The size of a cell in points.
  private let (width, height): (Double, Double)

  /// A layout. Values out of range are replaced by the nearest valid one, and what is no number by the default.
  ///
  /// - Parameters:
  ///   - columns: The number of cells per row; from 1 to a million.
  ///   - cell: The size of a cell in device pixels, as requests have it: that of a valid thumbnail.
  ///   - scale: Device pixels per point, more than 0.
  ///   - spacing: Between columns and between rows, in points.
  ///   - insets: Around the cells of each section.
  ///   - sections: From the top down; a prefetcher replaces them by those of its items.
  public init(
    columns: Int, cell: PixelSize, scale: Double = 1, spacing: Double = 0, insets: Insets = Insets(),
    sections: [Section] = [Section(itemCount: 0)]
  ) {
    func side(_ pixels: Int) -> Int { min(max(1, pixels), PixelSize.longestThumbnailSide) }
    func length(_ points: Double) -> Double { points.isFinite ? max(0, points) : 0 }
    self.columns = min(max(1, columns), 1_000_000)
    self.cell = PixelSize(side(cell.width), side(cell.height))
    self.scale = scale > 0 && scale.isFinite ? scale : 1
    self.spacing = length(spacing)
    self.insets = Insets(
      top: length(insets.top), left: length(insets.left), bottom: length(insets.bottom), right: length(insets.right))
    self.sections = sections
    (width, height) = (Double(self.cell.width) / self.scale, Double(self.cell.height) / self.scale)
    measure(from: 0)
  }

  // MARK: Sections

  /// The number of items in all sections.
  package var itemCount: Int { firsts[sections.count] }

  /// Replaces all sections. Takes time proportional to their number.
  public mutating func setSections(_ sections: [Section]) {
    self.sections = sections
    measure(from: 0)
  }

  /// Changes the number of items of one section; those below it move. Has no effect if there is no such section.
  package mutating func setItemCount(_ count: Int, inSection section: Int) {
    guard sections.indices.contains(section) else { return }
    sections[section] = Section(itemCount: count, headerHeight: sections[section].headerHeight)
    measure(from: section)
  }

  /// Adds a section below the others.
  package mutating func append(_ section: Section) {
    sections.append(section)
    measure(from: sections.count - 1)
  }

  private mutating func measure(from start: Int) {
    tops.removeSubrange((start + 1)...)
    firsts.removeSubrange((start + 1)...)
    for section in sections[start...] {
      // Both arrays start with 0 and are never empty.
      tops.append(tops[tops.count - 1] + height(of: section))
      firsts.append(firsts[firsts.count - 1] + section.itemCount)
    }
  }

  private func height(of section: Section) -> Double {
    let rows = rowCount(section.itemCount)
    let cells = rows == 0 ? 0 : Double(rows) * rowPitch - spacing
    return section.headerHeight + insets.top + cells + insets.bottom
  }

  private func rowCount(_ items: Int) -> Int { items / columns + (items % columns == 0 ? 0 : 1) }

  // MARK: Sizes

  /// The distance between the upper edges of two rows, in points.
  package var rowPitch: Double { height + spacing }

  /// The height of the content, in points.
  public var contentHeight: Double { tops[sections.count] }

  // MARK: Items and their frames

  /// The frame of an item; nil if there is no such item.
  public func frame(ofItem index: Int) -> CGRect? {
    guard let place = place(ofItem: index) else { return nil }
    let (row, column) = place.item.quotientAndRemainder(dividingBy: columns)
    return CGRect(
      x: insets.left + Double(column) * (width + spacing), y: rowTop(row, inSection: place.section),
      width: width, height: height)
  }

  /// The section of an item and its index there; nil if there is no such item.
  public func place(ofItem index: Int) -> (section: Int, item: Int)? {
    guard index >= 0, index < itemCount else { return nil }
    let section = firsts.partitioningIndex { $0 > index } - 1
    return (section, index - firsts[section])
  }

  /// The items at least partly visible in a view of `height` points at a scroll offset. Offsets beyond the content are
  /// valid: only the visible part of the content counts.
  public func items(from offset: Double, height: Double) -> Range<Int> {
    guard height > 0, offset.isFinite, height.isFinite else { return 0..<0 }
    let first = firstItem(endingBelow: offset)
    return first..<max(first, firstItem(beginningAtOrBelow: offset + height))
  }

  /// The number of items needed, by adding to the last section, to fill the content down to `bottom`.
  package func itemCount(fillingDownTo bottom: Double) -> Int {
    guard let last = sections.indices.last, bottom.isFinite else { return itemCount }
    let missing = bottom - cellsTop(ofSection: last)
    // Clamped, since an extreme `bottom` would overflow the number of rows.
    let rows = min(max(0, (missing / rowPitch).rounded(.up)), 1e12)
    return max(itemCount, firsts[last] + Int(rows) * columns)
  }

  // MARK: Rows

  private func cellsTop(ofSection section: Int) -> Double {
    tops[section] + sections[section].headerHeight + insets.top
  }

  private func rowTop(_ row: Int, inSection section: Int) -> Double {
    cellsTop(ofSection: section) + Double(row) * rowPitch
  }

  /// The first item whose lower edge is below `y`; the number of items if there is none.
  private func firstItem(endingBelow y: Double) -> Int {
    firstItem(at: y) { row, section in rowTop(row, inSection: section) + height > y }
  }

  /// The first item whose upper edge is at or below `y`; the number of items if there is none.
  private func firstItem(beginningAtOrBelow y: Double) -> Int {
    firstItem(at: y) { row, section in rowTop(row, inSection: section) >= y }
  }

  /// The first item of the first row for which `isFound` is true; it must be false for all rows above that and true for
  /// all below.
  private func firstItem(at y: Double, isFound: (_ row: Int, _ section: Int) -> Bool) -> Int {
    let section = tops.dropFirst().partitioningIndex { $0 > y } - 1
    guard section < sections.count else { return itemCount }
    let rows = rowCount(sections[section].itemCount)
    let guess = ((y - cellsTop(ofSection: section)) / rowPitch).rounded(.down)
    // The floating-point division may be off by one row.
    var row = Int(min(max(guess - 1, 0), Double(rows)))
    while row < rows, !isFound(row, section) { row += 1 }
    return min(firsts[section] + row * columns, firsts[section + 1])
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
