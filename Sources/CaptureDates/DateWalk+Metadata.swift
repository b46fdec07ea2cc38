import RAWPreviews

// The metadata that containers have in common: EXIF data, which is a TIFF structure, and XMP, which is text.

extension DateWalk {
  /// The fields of a date: the time, the fraction of the second, and the time zone.
  private typealias Fields = (date: Int, fraction: Int, zone: Int)

  /// `DateTimeOriginal` and `CreateDate`.
  private static let fields: [Fields] = [(0x9003, 0x9291, 0x9011), (0x9004, 0x9292, 0x9012)]
  private static let xmpField = 0x02BC
  /// The bytes of a field's text that are read.
  private static let longestText = 32

  /// Takes the date of a TIFF structure, whose positions are relative to `base`.
  mutating func walkTIFF(at base: Int) throws(MissingBytes) {
    var tiff = TIFFWalk(known, base: base)
    guard try tiff.readHeader(), let first = try tiff.directory(at: tiff.first) else { return }
    var directories = [first]
    if let place = try tiff.number(first[TIFFTag.exif]), let exif = try tiff.directory(at: place) {
      directories.insert(exif, at: 0)
    }
    var date: CaptureDate?
    for fields in Self.fields {
      for directory in directories where date == nil {
        date = CaptureDate(
          try text(directory[fields.date]), fraction: try text(directory[fields.fraction]),
          zone: try text(directory[fields.zone]), source: .camera)
      }
    }
    take(date)
    if date == nil, let xmp = first[Self.xmpField] { try takeXMP(in: xmp.place..<xmp.place + xmp.count) }
    // The date comes first: a file is read few times.
    try details.take(directories, of: tiff, cameraOnly: !wantsDetails)
  }

  /// The text of a field.
  private func text(_ field: RAWDirectory.Field?) throws(MissingBytes) -> ArraySlice<UInt8> {
    guard let field, field.kind == 2 else { return [] }
    return try known.slice(field.place..<field.place + min(field.count, Self.longestText)) ?? []
  }

  // MARK: XMP

  /// The properties with a date, without their prefixes, the best first.
  private static let properties = ["DateTimeOriginal", "DateCreated", "DateTimeDigitized", "CreateDate"]
    .map { Array($0.utf8) }

  /// Takes the date from the first 64 KiB of an XMP packet.
  mutating func takeXMP(in range: Range<Int>) throws(MissingBytes) {
    guard best == nil, let text = try known.slice(range.prefix(DateReader.pieceBytes)) else { return }
    var found: (rank: Int, date: CaptureDate)?
    for index in text.indices where text[index] == UInt8(ascii: ":") {
      let name = text[(index + 1)...]
      guard let rank = Self.properties.firstIndex(where: name.starts), rank < found?.rank ?? .max,
        let value = Self.value(after: name.dropFirst(Self.properties[rank].count)),
        let date = CaptureDate(value, source: .xmp)
      else { continue }
      found = (rank, date)
    }
    take(found?.date)
  }

  /// The value of a property after its name: `="…"`, or `>…<`.
  private static func value(after name: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    let blanks: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]
    let rest = name.drop(while: blanks.contains)
    guard let first = rest.first else { return nil }
    let content = rest.dropFirst().drop(while: blanks.contains)
    switch first {
    case UInt8(ascii: "="): return content.dropFirst().prefix(longestText)
    case UInt8(ascii: ">"): return content.prefix(longestText)
    default: return nil
    }
  }
}
