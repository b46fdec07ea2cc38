import ThumbnailCore

/// The table of the items' locations (`iloc`).
struct ItemLocations {
  /// The most pieces of one item, and of all together.
  private static let (mostPieces, mostTotal) = (64, 1 << 16)

  /// The pieces of each item, in file positions; nil if they are not in this file.
  private(set) var ranges: [UInt32: [Range<Int>]?] = [:]

  /// - Parameter itemData: The range of the content of the box `idat` in the file; nil if there is none.
  init(_ content: BoxCursor, itemData: Range<Int>?) throws(CodecError) {
    var content = content
    let version = try content.versionAndFlags().version
    guard version <= 2 else { throw .handedOver(reason: "version \(version) of iloc") }
    let sizes = try content.number(2)
    let (offsetBytes, lengthBytes) = (sizes >> 12, sizes >> 8 & 15)
    let (baseBytes, indexBytes) = (sizes >> 4 & 15, version == 0 ? 0 : sizes & 15)
    guard [offsetBytes, lengthBytes, baseBytes, indexBytes].allSatisfy({ [0, 4, 8].contains($0) }) else {
      throw .damaged(.header, detail: "the sizes of iloc's numbers")
    }
    let count = try content.number(version < 2 ? 2 : 4)
    guard count <= HEIFItems.mostItems else { throw .damaged(.header, detail: "too many items") }
    var total = 0
    for _ in 0..<count {
      let id = UInt32(truncatingIfNeeded: try content.number(version < 2 ? 2 : 4))
      let method = version == 0 ? 0 : try content.number(2) & 15
      let source = try content.number(2)
      let base = try content.number(baseBytes)
      let pieces = try content.number(2)
      total += pieces
      guard pieces <= Self.mostPieces, total <= Self.mostTotal else {
        throw .damaged(.header, detail: "too many pieces of an item")
      }
      var found: [Range<Int>]? = []
      for _ in 0..<pieces {
        _ = try content.number(indexBytes)
        let (offset, length) = (try content.number(offsetBytes), try content.number(lengthBytes))
        let place = try Self.place(base, offset, length)
        switch (source, method) {
        case (0, 0) where length > 0: found?.append(place)
        case (0, 1) where length > 0:
          guard let itemData else { throw .damaged(.header, detail: "an item in a box that is missing") }
          guard place.upperBound <= itemData.count else { throw .truncated(detail: "an item reaches beyond its box") }
          found?.append(itemData.lowerBound + place.lowerBound..<itemData.lowerBound + place.upperBound)
        // In another file, in another item, or up to the file's end.
        default: found = nil
        }
      }
      ranges[id] = .some(found)
    }
  }

  private static func place(_ base: Int, _ offset: Int, _ length: Int) throws(CodecError) -> Range<Int> {
    let (start, tooFar) = base.addingReportingOverflow(offset)
    let (end, tooLong) = start.addingReportingOverflow(length)
    guard !tooFar, !tooLong else { throw .damaged(.header, detail: "an item beyond any file's length") }
    return start..<end
  }
}
