package import ThumbnailCore

/// How an image is put together of equal tiles: the content of an item of the kind `grid`.
package struct HEIFGrid: Sendable, Hashable {
  /// The bytes that hold any such content.
  package static let mostBytes = 12

  package let rows: Int
  package let columns: Int
  /// The size of the image: the tiles of the last row and column may reach beyond it.
  package let size: PixelSize

  package init(_ bytes: [UInt8]) throws(HEIFError) {
    var content = BoxCursor(bytes)
    guard try content.number(1) == 0 else { throw .unsupported("a grid of another version") }
    let length = try content.number(1) & 1 == 1 ? 4 : 2
    (rows, columns) = (try content.number(1) + 1, try content.number(1) + 1)
    size = PixelSize(try content.number(length), try content.number(length))
  }

  /// Whether tiles of this size cover the image, and each shows a part of it.
  func isCovered(by tile: PixelSize) -> Bool {
    func covers(_ side: Int, _ tile: Int, _ count: Int) -> Bool {
      // A side has 32 bits, and there are at most 256 tiles.
      tile * count >= side && tile * (count - 1) < side
    }
    return tile.width > 0 && tile.height > 0 && covers(size.width, tile.width, columns)
      && covers(size.height, tile.height, rows)
  }
}
