/// One of the eight ways to turn and mirror an image, by its number in EXIF, which transforms a stored image into an
/// upright one.
package struct Orientation: Hashable, Sendable {
  /// 1 to 8.
  package let exif: Int

  /// Any value other than 1 to 8 counts as upright, as in viewers.
  package init(exif: Int) { self.exif = (1...8).contains(exif) ? exif : 1 }

  /// A turn clockwise by this many quarters; a negative number turns anticlockwise.
  package init(quarters: Int) { self.init(isMirrored: false, quarters: quarters % 4) }

  /// The numbers of an image that is mirrored or not, left to right, and then turned clockwise by 0 to 3 quarters.
  private static let (plain, mirrored) = ([1, 6, 3, 8], [2, 7, 4, 5])

  private init(isMirrored: Bool, quarters: Int) {
    exif = (isMirrored ? Self.mirrored : Self.plain)[(quarters % 4 + 4) % 4]
  }

  /// This transformation and then another one.
  package func then(_ next: Orientation) -> Orientation {
    let (isMirrored, quarters) = parts
    let (mirrorsNext, more) = next.parts
    return Orientation(isMirrored: isMirrored != mirrorsNext, quarters: (mirrorsNext ? -quarters : quarters) + more)
  }

  private var parts: (isMirrored: Bool, quarters: Int) {
    if let quarters = Self.plain.firstIndex(of: exif) { return (false, quarters) }
    return (true, Self.mirrored.firstIndex(of: exif) ?? 0)
  }

  /// Whether width and height are swapped.
  package var swapsSides: Bool { exif >= 5 }

  /// The upright size of an image stored with `size`.
  package func upright(_ size: PixelSize) -> PixelSize { swapsSides ? PixelSize(size.height, size.width) : size }

  /// The stored size of an image that is upright with `size`.
  package func stored(_ size: PixelSize) -> PixelSize { upright(size) }

  /// The stored pixels of an upright rectangle, in an image stored with `size`.
  package func stored(_ rectangle: PixelRectangle, in size: PixelSize) -> PixelRectangle {
    let (x, y, cut) = (rectangle.x, rectangle.y, rectangle.size)
    // The margins to the right of the rectangle and below it, in the upright image.
    let right = upright(size).width - x - cut.width
    let below = upright(size).height - y - cut.height
    let origin =
      switch exif {
      case 2: (right, y)
      case 3: (right, below)
      case 4: (x, below)
      case 5: (y, x)
      case 6: (y, right)
      case 7: (below, right)
      case 8: (below, x)
      default: (x, y)
      }
    return PixelRectangle(x: origin.0, y: origin.1, size: stored(cut))
  }
}

/// A part of an image, in pixels from its upper left corner.
package struct PixelRectangle: Hashable, Sendable {
  package var x: Int
  package var y: Int
  package var size: PixelSize

  package init(x: Int, y: Int, size: PixelSize) { (self.x, self.y, self.size) = (x, y, size) }

  package init(columns: Range<Int>, rows: Range<Int>) {
    self.init(x: columns.lowerBound, y: rows.lowerBound, size: PixelSize(columns.count, rows.count))
  }

  /// The smallest one with all the others in it; empty without others.
  package init(around others: [PixelRectangle]) {
    func span(_ ranges: [Range<Int>]) -> Range<Int> {
      let start = ranges.map(\.lowerBound).min() ?? 0
      return start..<(ranges.map(\.upperBound).max() ?? start)
    }
    self.init(columns: span(others.map(\.columns)), rows: span(others.map(\.rows)))
  }

  package var columns: Range<Int> { x..<x + size.width }
  package var rows: Range<Int> { y..<y + size.height }
}
