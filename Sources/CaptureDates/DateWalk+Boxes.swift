import HEIFContainer
import RAWPreviews

// Boxes (ISO/IEC 14496-12): HEIC and AVIF, and Canon's CR3.

extension DateWalk {
  /// The most metadata of an image that are read: many items may name the same bytes.
  private static let mostItems = 8
  /// The longest table of contents that is read, in bytes: one read.
  private static let longestTable = DateReader.pieceBytes

  mutating func walkBoxes() throws(MissingBytes) {
    var position = 0
    for _ in 0..<Self.mostParts {
      guard let box = try known.box(at: position, before: length), !isDone else { return }
      if box.isKind("meta") { try walkItems(box.payload) }
      if box.isKind("moov") {
        for box in try boxes(in: box.payload) where box.isKind("uuid") { try walkCanon(box.payload) }
      }
      position = box.end
    }
  }

  /// The boxes in a range.
  private func boxes(in range: Range<Int>) throws(MissingBytes) -> [KnownBox] {
    var (boxes, position): ([KnownBox], Int) = ([], range.lowerBound)
    while boxes.count < Self.mostParts, let box = try known.box(at: position, before: range.upperBound) {
      boxes.append(box)
      position = box.end
    }
    return boxes
  }

  /// Takes the date from the metadata of the image that a HEIC or AVIF shows.
  private mutating func walkItems(_ table: Range<Int>) throws(MissingBytes) {
    guard table.count <= Self.longestTable, let bytes = try known.slice(table),
      let items = try? HEIFItems(meta: Array(bytes), at: table.lowerBound)
    else { return }
    let metadata = items.items("cdsc", to: items.primary).prefix(Self.mostItems)
    for item in metadata where item.kind == "Exif" {
      // The position of the TIFF structure behind this number comes first.
      guard let range = item.ranges?.first, range.upperBound <= length,
        let skipped = try known.number(at: range.lowerBound, count: 4, isBigEndian: true)
      else { continue }
      try walkTIFF(at: range.lowerBound + 4 + skipped)
    }
    for item in metadata where item.kind == "mime" {
      if let range = item.ranges?.first, range.upperBound <= length { try takeXMP(in: range) }
    }
  }

  /// Canon's CR3 has its directories in boxes of their own: the first two contain dates, the fourth the place.
  private mutating func walkCanon(_ content: Range<Int>) throws(MissingBytes) {
    for box in try boxes(in: content.dropFirst(16)) {
      let start = box.payload.lowerBound
      if box.isKind("CMT1") || box.isKind("CMT2") { try walkTIFF(at: start) }
      if wantsDetails, box.isKind("CMT4") { try details.takePlace(of: TIFFWalk(known, base: start)) }
    }
  }
}
