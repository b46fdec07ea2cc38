import HEIFContainer
import RAWPreviews

// Boxes (ISO/IEC 14496-12): HEIC and AVIF, Canon's CR3, and films.

extension DateWalk {
  /// Films count seconds from the year 1904.
  private static let secondsUntil1970 = 2_082_844_800
  /// The key of the local time in Apple's films.
  private static let creationKey = "com.apple.quicktime.creationdate"
  /// The most keys of a film.
  private static let mostKeys = 256
  /// The most metadata of an image that are read: many items may name the same bytes.
  private static let mostItems = 8
  /// The longest table of contents that is read, in bytes: one read.
  private static let longestTable = DateReader.pieceBytes

  mutating func walkBoxes() throws(MissingBytes) {
    var position = 0
    for _ in 0..<Self.mostParts {
      guard let box = try known.box(at: position, before: length), !isDone else { return }
      if box.isKind("meta") { try walkItems(box.payload) }
      if box.isKind("moov") { try walkMovie(box.payload) }
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

  private mutating func walkMovie(_ range: Range<Int>) throws(MissingBytes) {
    var creation: CaptureDate?
    var position = range.lowerBound
    for _ in 0..<Self.mostParts {
      guard let box = try known.box(at: position, before: range.upperBound) else { break }
      if box.isKind("mvhd") { creation = try creationTime(box.payload) }
      if box.isKind("uuid") { try walkCanon(box.payload) }
      if box.isKind("meta") { take(try creationDate(box.payload)) }
      position = box.end
    }
    take(creation)
  }

  /// The moment in a film's header, by the clock of this machine, because the film does not contain its zone.
  private func creationTime(_ header: Range<Int>) throws(MissingBytes) -> CaptureDate? {
    let start = header.lowerBound
    let version = try known.number(at: start, count: 1, isBigEndian: true)
    let seconds =
      version == 1
      ? try known.number(at: start + 5, count: 7, isBigEndian: true)
      : try known.number(at: start + 4, count: 4, isBigEndian: true)
    // No program sets the clock to before 1970, but many leave it at zero.
    guard let seconds, seconds > Self.secondsUntil1970, seconds < 1 << 40 else { return nil }
    return CaptureDate(moment: (seconds - Self.secondsUntil1970) * 1000, source: .film)
  }

  /// The date among the keys and values of a film.
  private func creationDate(_ meta: Range<Int>) throws(MissingBytes) -> CaptureDate? {
    // QuickTime's box has no version, unlike those of other films.
    let hasVersion = try !known.has("hdlr", at: meta.lowerBound + 4)
    let boxes = try boxes(in: meta.dropFirst(hasVersion ? 4 : 0))
    guard let keys = boxes.first(where: { $0.isKind("keys") }), let values = boxes.first(where: { $0.isKind("ilst") }),
      let count = try known.number(at: keys.payload.lowerBound + 4, count: 4, isBigEndian: true)
    else { return nil }
    var position = keys.payload.lowerBound + 8
    for number in 1...max(1, min(count, Self.mostKeys)) {
      guard let size = try known.number(at: position, count: 4, isBigEndian: true), size >= 8 else { return nil }
      if size == 8 + Self.creationKey.utf8.count, try known.has(Self.creationKey, at: position + 8) {
        // Values are named by the numbers of their keys.
        let name = [UInt8(0), 0, UInt8(number >> 8), UInt8(number & 0xFF)]
        guard let value = try self.boxes(in: values.payload).first(where: { $0.kind == name }),
          let data = try known.box(at: value.payload.lowerBound, before: value.end), data.isKind("data"),
          let text = try known.slice(data.payload.dropFirst(8).prefix(32))
        else { return nil }
        return CaptureDate(text, source: .film)
      }
      position += size
    }
    return nil
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
