/// Finds the previews that makers keep in their notes, by each maker's layout.
///
/// Most notes are a directory, with or without a header before it. Positions are relative to the TIFF structure, or to
/// the notes themselves.
struct MakerNotes {
  private let tiff: TIFFWalk
  private let format: RAWFormat

  init(_ tiff: TIFFWalk, format: RAWFormat) { (self.tiff, self.format) = (tiff, format) }

  private enum Tag {
    /// Left, right, top and bottom of the part that shows the image; all zero if all of it does.
    static let canonThumbnailValidArea = 0x0013
    static let nikonPreviewDirectory = 0x0011
    static let minoltaPreviewStart = 0x0088
    static let minoltaPreviewLength = 0x0089
    static let olympusThumbnail = 0x0100
    static let olympusPreview = 0x0280
    static let olympusPreviewStart = 0x1036
    static let olympusPreviewLength = 0x1037
    static let olympusCameraSettings = 0x2020
    static let olympusSettingsPreviewStart = 0x0101
    static let olympusSettingsPreviewLength = 0x0102
    static let pentaxPreviewLength = 0x0003
    static let pentaxPreviewStart = 0x0004
    static let samsungPreviewDirectory = 0x0035
  }

  /// Reads the notes at a position of the file.
  func read(at start: Int, length: Int, _ walk: inout RAWWalk) throws(MissingBytes) {
    if try tiff.known.has("Nikon\0\u{2}", at: start) { return try readNikon(at: start, &walk) }
    if try tiff.known.has("OLYMPUS\0", at: start) { return try readOlympus(at: start, header: 12, &walk) }
    if try tiff.known.has("OM SYSTEM\0", at: start) { return try readOlympus(at: start, header: 16, &walk) }
    if try tiff.known.has(anyOf: ["OLYMP\0", "EPSON\0"], at: start) { return try readOldOlympus(at: start, &walk) }
    if try tiff.known.has("AOC\0", at: start) { return try readPentax(at: start, header: 6, &walk) }
    if try tiff.known.has("PENTAX \0", at: start) { return try readPentax(at: start, header: 10, &walk) }
    // Notes without a header.
    guard [.cr2, .cr3, .srw, .mrw, .arw].contains(format), let notes = try tiff.directory(at: start - tiff.base) else {
      return
    }
    switch format {
    case .cr2, .cr3: try Self.takeThumbnailArea(notes, tiff, &walk)
    case .srw:
      guard let position = try tiff.number(notes[Tag.samsungPreviewDirectory]) else { return }
      try takePreview(in: tiff, at: position, &walk)
    case .mrw, .arw: try take(notes, Tag.minoltaPreviewStart, Tag.minoltaPreviewLength, tiff, &walk)
    default: return
    }
  }

  // MARK: Makers

  /// Takes the visible part of Canon's thumbnails of 160×120 pixels of an image with another aspect ratio.
  static func takeThumbnailArea(
    _ notes: RAWDirectory, _ tiff: TIFFWalk, _ walk: inout RAWWalk
  ) throws(MissingBytes) {
    let field = notes[Tag.canonThumbnailValidArea]
    guard let left = try tiff.number(field, 0), let right = try tiff.number(field, 1),
      let top = try tiff.number(field, 2), let bottom = try tiff.number(field, 3), right > left, bottom > top
    else { return }
    walk.take(thumbnailArea: VisiblePart(x: left, y: top, width: right - left + 1, height: bottom - top + 1))
  }

  private func readNikon(at start: Int, _ walk: inout RAWWalk) throws(MissingBytes) {
    // A TIFF structure of its own follows the header of 10 bytes.
    var notes = TIFFWalk(tiff.known, base: start + 10)
    guard try notes.readHeader(), let directory = try notes.directory(at: notes.first),
      let position = try notes.number(directory[Tag.nikonPreviewDirectory])
    else { return }
    try takePreview(in: notes, at: position, &walk)
  }

  /// The preview of a directory that contains only that.
  private func takePreview(in notes: TIFFWalk, at position: Int, _ walk: inout RAWWalk) throws(MissingBytes) {
    guard let preview = try notes.directory(at: position) else { return }
    try take(preview, TIFFTag.jpegStart, TIFFTag.jpegLength, notes, &walk)
  }

  private func readPentax(at start: Int, header: Int, _ walk: inout RAWWalk) throws(MissingBytes) {
    // The byte order is before the directory, and may differ from the file's. The previews' positions are the file's.
    let isBigEndian = try tiff.known.has("MM", at: start + header - 2)
    let notes = TIFFWalk(tiff.known, base: tiff.base, isBigEndian: isBigEndian)
    guard let directory = try notes.directory(at: start + header - tiff.base) else { return }
    try take(directory, Tag.pentaxPreviewStart, Tag.pentaxPreviewLength, notes, &walk)
  }

  private func readOlympus(at start: Int, header: Int, _ walk: inout RAWWalk) throws(MissingBytes) {
    // All positions are relative to the notes.
    let isBigEndian = try tiff.known.has("MM", at: start + header - 4)
    let notes = TIFFWalk(tiff.known, base: start, isBigEndian: isBigEndian)
    guard let directory = try notes.directory(at: header) else { return }
    try takeOlympus(directory, notes, &walk)
  }

  private func readOldOlympus(at start: Int, _ walk: inout RAWWalk) throws(MissingBytes) {
    guard let directory = try tiff.directory(at: start + 8 - tiff.base) else { return }
    try takeOlympus(directory, tiff, &walk)
  }

  private func takeOlympus(
    _ directory: RAWDirectory, _ notes: TIFFWalk, _ walk: inout RAWWalk
  ) throws(MissingBytes) {
    for tag in [Tag.olympusThumbnail, Tag.olympusPreview] {
      if let field = directory[tag], field.size == 1 { walk.add(.makerNote, at: field.place, length: field.count) }
    }
    try take(directory, Tag.olympusPreviewStart, Tag.olympusPreviewLength, notes, &walk)
    try take(directory, Tag.minoltaPreviewStart, Tag.minoltaPreviewLength, notes, &walk)
    // The settings are a directory that the field points to, or in older files its value.
    guard let field = directory[Tag.olympusCameraSettings] else { return }
    let position = field.kind == 7 ? field.place - notes.base : try notes.number(field)
    guard let position, let settings = try notes.directory(at: position) else { return }
    try take(settings, Tag.olympusSettingsPreviewStart, Tag.olympusSettingsPreviewLength, notes, &walk)
  }

  private func take(
    _ directory: RAWDirectory, _ startTag: Int, _ lengthTag: Int, _ notes: TIFFWalk, _ walk: inout RAWWalk
  ) throws(MissingBytes) {
    guard let start = try notes.number(directory[startTag]), let length = try notes.number(directory[lengthTag]),
      start > 0
    else { return }
    walk.add(.makerNote, at: notes.base + start, length: length)
  }
}
