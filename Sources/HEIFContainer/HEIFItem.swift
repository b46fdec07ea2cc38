package import ThumbnailCore

/// An entry of the container's table of contents: an image, a tile, a thumbnail, a block of metadata.
package struct HEIFItem: Sendable {
  package let id: UInt32
  /// `hvc1`, `av01`, `grid`, `Exif` and others; nil if the container does not state it.
  package internal(set) var kind: FourCC?
  /// The ranges of its bytes in the file, in order; nil if the container does not give them as offsets in this file.
  package internal(set) var ranges: [Range<Int>]?
  /// The properties in the order in which they apply.
  package internal(set) var properties: [HEIFProperty] = []
  /// The items that it refers to, by the kind of reference.
  package internal(set) var references: [FourCC: [UInt32]] = [:]

  /// The number of its bytes in the file; nil if their places are not known.
  package var byteCount: Int? {
    guard let ranges else { return nil }
    var sum = 0
    for range in ranges {
      let (more, overflow) = sum.addingReportingOverflow(range.count)
      if overflow { return nil }
      sum = more
    }
    return sum
  }

  /// The places of its bytes in a file of this length.
  ///
  /// - Throws: `.truncated` if one is beyond the file, `.damaged` if together they are longer than it.
  package func ranges(inFileOf length: Int) throws(CodecError) -> [Range<Int>] {
    guard let ranges, let byteCount else { throw .handedOver(reason: "an item whose bytes are elsewhere") }
    if ranges.contains(where: { $0.upperBound > length }) {
      throw .truncated(detail: "an item reaches beyond the file")
    }
    guard byteCount <= length else { throw .damaged(.header, detail: "an item of \(byteCount) bytes") }
    return ranges
  }

  /// The place of the content of a grid; nil for other items.
  package var grid: Range<Int>? {
    guard kind == "grid", let place = ranges?.first else { return nil }
    return place.lowerBound..<place.lowerBound + min(place.count, HEIFGrid.mostBytes)
  }

  /// The size that is stated for it, in pixels.
  package var extent: PixelSize? {
    for property in properties { if case .extent(let size) = property.value { return size } }
    return nil
  }
}

/// How an image is put together of equal tiles: the content of an item of the kind `grid`.
package struct HEIFGrid: Sendable, Hashable {
  /// The bytes that hold any such content.
  package static let mostBytes = 12

  package let rows: Int
  package let columns: Int
  /// The size of the image. The tiles of the last row and column may reach beyond it.
  package let size: PixelSize

  package init(_ bytes: [UInt8]) throws(CodecError) {
    var content = BoxCursor(bytes)
    guard try content.number(1) == 0 else { throw .handedOver(reason: "a grid of another version") }
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
