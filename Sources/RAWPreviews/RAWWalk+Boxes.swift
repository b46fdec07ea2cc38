// Canon's CR3: boxes (ISO/IEC 14496-12), some of which contain TIFF structures and JPEGs.

extension RAWWalk {
  private enum Identifier {
    /// Canon's metadata, within `moov`.
    static let metadata: [UInt8] = [
      0x85, 0xC0, 0xB6, 0x87, 0x82, 0x0F, 0x11, 0xE0, 0x81, 0x11, 0xF4, 0xCE, 0x46, 0x2B, 0x6A, 0x48,
    ]
    /// The preview of medium size, beside `moov`.
    static let preview: [UInt8] = [
      0xEA, 0xF4, 0x2B, 0x5E, 0x1C, 0x98, 0x4B, 0x88, 0xB9, 0xFB, 0xB7, 0xDC, 0x40, 0x6E, 0x4D, 0x16,
    ]
    static let length = 16
  }

  private enum Layout {
    /// In the payloads of THMB and PRVW: the offsets of the JPEG's length and its bytes.
    static let thumbnailLength = 8
    static let previewLength = 12
    static let jpegStart = 16
    /// Between the identifier and the first box of the preview.
    static let previewHeader = 8
    /// In the payload of stsz: the size of all samples, or else that of the first.
    static let sampleSize = 4
    static let firstSampleSize = 12
    /// In the payload of stco and co64: the position of the first chunk.
    static let firstChunk = 8
    /// A sample's description names its codec within these bytes.
    static let descriptionLength = 256
  }

  /// The most boxes of one level, and the most tracks. Real files have up to 20, and 5.
  private static let mostBoxes = 64

  mutating func walkCR3() throws(MissingBytes) {
    settle(.cr3)
    try forEachBox(in: 0..<KnownBytes.furthest) { box, walk throws(MissingBytes) in
      if box.isKind("moov") {
        try walk.walkMovie(box.payload)
      } else if try walk.isBox(box, named: Identifier.preview) {
        try walk.walkPreview(box.payload)
      }
      // The samples come last.
      return !box.isKind("mdat")
    }
  }

  /// Passes the boxes of a range to `take`, until that returns false.
  private mutating func forEachBox(
    in range: Range<Int>, _ take: (KnownBox, inout RAWWalk) throws(MissingBytes) -> Bool
  ) throws(MissingBytes) {
    var position = range.lowerBound
    for _ in 0..<Self.mostBoxes {
      guard let box = try known.box(at: position, before: range.upperBound), try take(box, &self) else { return }
      position = box.end
    }
  }

  private func isBox(_ box: KnownBox, named identifier: [UInt8]) throws(MissingBytes) -> Bool {
    guard box.isKind("uuid"), box.payload.count >= Identifier.length else { return false }
    return try known.has(identifier, at: box.payload.lowerBound)
  }

  private mutating func walkMovie(_ range: Range<Int>) throws(MissingBytes) {
    try forEachBox(in: range) { box, walk throws(MissingBytes) in
      if try walk.isBox(box, named: Identifier.metadata) {
        try walk.walkMetadata(box.payload.dropFirst(Identifier.length))
      } else if box.isKind("trak") {
        var track = Track()
        try walk.walkTrack(box.payload, path: ["mdia", "minf", "stbl"], &track)
        if track.isJPEG { walk.add(.box, at: track.start, length: track.length) }
      }
      return true
    }
  }

  private mutating func walkMetadata(_ range: Range<Int>) throws(MissingBytes) {
    try forEachBox(in: range) { box, walk throws(MissingBytes) in
      let start = box.payload.lowerBound
      switch String(decoding: box.kind, as: UTF8.self) {
      case "CMT1":
        var tiff = TIFFWalk(walk.known, base: start)
        if try tiff.readHeader(), let directory = try tiff.directory(at: tiff.first),
          let orientation = try tiff.number(directory[TIFFTag.orientation])
        {
          walk.take(orientation: orientation)
        }
      case "CMT3":
        var tiff = TIFFWalk(walk.known, base: start)
        if try tiff.readHeader(), let directory = try tiff.directory(at: tiff.first) {
          try MakerNotes.takeThumbnailArea(directory, tiff, &walk)
        }
      case "THMB": try walk.addPassing(in: box.payload, lengthAt: Layout.thumbnailLength)
      default: break
      }
      return true
    }
  }

  private mutating func walkPreview(_ range: Range<Int>) throws(MissingBytes) {
    let boxes = range.dropFirst(Identifier.length + Layout.previewHeader)
    try forEachBox(in: boxes) { box, walk throws(MissingBytes) in
      if box.isKind("PRVW") { try walk.addPassing(in: box.payload, lengthAt: Layout.previewLength) }
      return true
    }
  }

  /// Adds a JPEG within a box. Its header is read now, because a stream does not return to it.
  private mutating func addPassing(in payload: Range<Int>, lengthAt place: Int) throws(MissingBytes) {
    guard let length = try known.number(at: payload.lowerBound + place, count: 4, isBigEndian: true),
      Layout.jpegStart + length <= payload.count
    else { return }
    let start = payload.lowerBound + Layout.jpegStart
    add(.box, at: start, length: length)
    if length > 0 { _ = try JPEGHead(known, in: start..<start + length) }
  }

  /// The first sample of a track, from its tables.
  private struct Track {
    var isJPEG = false
    var start = 0
    var length = 0
  }

  /// Reads a track's tables of samples, through the boxes of `path`.
  private mutating func walkTrack(_ range: Range<Int>, path: [String], _ track: inout Track) throws(MissingBytes) {
    var found = track
    try forEachBox(in: range) { box, walk throws(MissingBytes) in
      let (kind, start) = (String(decoding: box.kind, as: UTF8.self), box.payload.lowerBound)
      if let next = path.first {
        if kind == next { try walk.walkTrack(box.payload, path: Array(path.dropFirst()), &found) }
        return true
      }
      switch kind {
      case "stsd":
        let length = min(box.payload.count, Layout.descriptionLength)
        let bytes = try walk.known.slice(start..<start + length) ?? []
        found.isJPEG = bytes.indices.dropLast(3).contains { bytes[$0...].starts(with: "JPEG".utf8) }
      case "stsz":
        let common = try walk.known.number(at: start + Layout.sampleSize, count: 4, isBigEndian: true) ?? 0
        let first = try walk.known.number(at: start + Layout.firstSampleSize, count: 4, isBigEndian: true) ?? 0
        found.length = common > 0 ? common : box.payload.count >= Layout.firstSampleSize + 4 ? first : 0
      case "stco":
        found.start = try walk.known.number(at: start + Layout.firstChunk, count: 4, isBigEndian: true) ?? 0
      case "co64":
        guard try walk.known.has([0], at: start + Layout.firstChunk) else { break }
        found.start = try walk.known.number(at: start + Layout.firstChunk + 1, count: 7, isBigEndian: true) ?? 0
      default: break
      }
      return true
    }
    track = found
  }
}
