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
  package func ranges(inFileOf length: Int) throws(HEIFError) -> [Range<Int>] {
    guard let ranges, let byteCount else { throw .unsupported("an item whose bytes are elsewhere") }
    if ranges.contains(where: { $0.upperBound > length }) { throw .truncated("an item reaches beyond the file") }
    guard byteCount <= length else { throw .damaged("an item of \(byteCount) bytes") }
    return ranges
  }

  /// The size that is stated for it, in pixels.
  package var extent: PixelSize? {
    for property in properties { if case .extent(let size) = property.value { return size } }
    return nil
  }
}
