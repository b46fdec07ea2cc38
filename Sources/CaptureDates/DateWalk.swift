import RAWPreviews

/// One walk through a file's container, for the date and the camera that are in it and, if wanted, all details of the
/// shot.
struct DateWalk {
  let known: KnownBytes
  /// The length of the file in bytes.
  let length: Int
  /// The most reliable date so far.
  private(set) var best: CaptureDate?
  /// Only the camera, unless they are wanted.
  var details = ShotDetails()
  let wantsDetails: Bool

  /// The most segments, chunks or boxes of a level that are read.
  static let mostParts = 4096

  init(_ known: KnownBytes, length: Int, wantsDetails: Bool = false) {
    (self.known, self.length, self.wantsDetails) = (known, length, wantsDetails)
  }

  /// Walks to the end.
  mutating func run() throws(MissingBytes) {
    if try known.has([0xFF, 0xD8], at: 0) {
      try walkJPEG(at: 0)
    } else if try known.has([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], at: 0) {
      try walkChunks(from: 8, ofWebP: false)
    } else if try known.has("RIFF", at: 0), try known.has("WEBP", at: 8) {
      try walkChunks(from: 12, ofWebP: true)
    } else if try known.has("FUJIFILMCCD-RAW", at: 0) {
      // Fujifilm's files have a JPEG with all metadata.
      if let start = try known.number(at: 84, count: 4, isBigEndian: true) { try walkJPEG(at: start) }
    } else if try known.has("\0MRM", at: 0) {
      try walkMRW()
    } else if try known.has("ftyp", at: 4) {
      try walkBoxes()
    } else {
      try walkTIFF(at: 0)
    }
  }

  /// Takes a date, unless a more reliable one is known.
  mutating func take(_ date: CaptureDate?) {
    guard let date, date.source.rawValue < best?.source.rawValue ?? .max else { return }
    best = date
  }

  /// Whether nothing more reliable can be found.
  var isDone: Bool { best?.source == .camera }

  // MARK: JPEG

  private mutating func walkJPEG(at start: Int) throws(MissingBytes) {
    let xmp = "http://ns.adobe.com/xap/1.0/\0"
    var position = start + 2
    for _ in 0..<Self.mostParts {
      guard let marker = try known.number(at: position, count: 2, isBigEndian: true) else { return }
      switch marker {
      // Fill bytes, and markers without a segment.
      case 0xFFFF: position += 1
      case 0xFF01, 0xFFD0...0xFFD8: position += 2
      case 0xFFC0...0xFFD7, 0xFFDB...0xFFFE:
        guard let size = try known.number(at: position + 2, count: 2, isBigEndian: true), size >= 2 else { return }
        let body = position + 4..<position + 2 + max(size, 2)
        if marker == 0xFFE1, try known.has("Exif\0\0", at: body.lowerBound) {
          try walkTIFF(at: body.lowerBound + 6)
          if isDone { return }
        } else if marker == 0xFFE1, try known.has(xmp, at: body.lowerBound) {
          try takeXMP(in: body.dropFirst(xmp.utf8.count))
        }
        position = body.upperBound
      // The scans, the end, or no JPEG.
      default: return
      }
    }
  }

  // MARK: Chunks

  /// Walks the chunks of a WebP, or else a PNG, from the first to its image, and then those at its end.
  private mutating func walkChunks(from start: Int, ofWebP: Bool) throws(MissingBytes) {
    var position = start
    for _ in 0..<Self.mostParts {
      guard let found = try chunk(at: position, ofWebP: ofWebP) else { return }
      // An animation has any number of frames.
      if try known.has(ofWebP ? "ANMF" : "IDAT", at: found.kind) { break }
      try take(found, ofWebP: ofWebP)
      if isDone { return }
      position = found.end
    }
    for found in try lastChunks(after: position, ofWebP: ofWebP) { try take(found, ofWebP: ofWebP) }
  }

  private func chunk(at position: Int, ofWebP: Bool) throws(MissingBytes) -> Chunk? {
    let length = try known.number(at: position + (ofWebP ? 4 : 0), count: 4, isBigEndian: !ofWebP)
    guard let size = length else { return nil }
    let (kind, payload) = (position + (ofWebP ? 0 : 4), position + 8..<position + 8 + size)
    return Chunk(kind: kind, payload: payload, end: payload.upperBound + (ofWebP ? size % 2 : 4))
  }

  private mutating func take(_ chunk: Chunk, ofWebP: Bool) throws(MissingBytes) {
    if try known.has(ofWebP ? "EXIF" : "eXIf", at: chunk.kind) {
      // Some writers of WebP put a JPEG's signature before it.
      let isSigned = try ofWebP ? known.has("Exif\0\0", at: chunk.payload.lowerBound) : false
      try walkTIFF(at: chunk.payload.lowerBound + (isSigned ? 6 : 0))
    } else if try known.has(ofWebP ? "XMP " : "iTXtXML:com.adobe.xmp\0", at: chunk.kind) {
      try takeXMP(in: chunk.payload)
    }
  }

  /// A chunk of a PNG or a WebP.
  private struct Chunk {
    /// The position of the four characters that name its kind.
    let kind: Int
    let payload: Range<Int>
    let end: Int
  }

  /// The chunks with metadata among a file's last bytes.
  ///
  /// Their beginning is unknown, and it may be behind thousands of chunks. So a chunk counts if the chain of chunks
  /// from it ends at the file's end.
  private func lastChunks(after position: Int, ofWebP: Bool) throws(MissingBytes) -> [Chunk] {
    let start = max(position, length - DateReader.pieceBytes)
    guard start < length, let bytes = try known.slice(start..<length) else { return [] }
    var found: [Chunk] = []
    for index in bytes.indices.dropLast(4) where Self.initials.contains(bytes[index]) {
      guard Self.metadataKinds.contains(where: bytes[index...].starts) else { continue }
      let kind = start + index - bytes.startIndex
      guard found.last.map({ kind >= $0.end }) ?? true else { continue }
      // The kind is after the length in a PNG, before it in a WebP.
      guard let candidate = try chunk(at: ofWebP ? kind : kind - 4, ofWebP: ofWebP),
        try leadsToEnd(candidate, ofWebP: ofWebP)
      else {
        continue
      }
      found.append(candidate)
    }
    return found
  }

  private func leadsToEnd(_ first: Chunk, ofWebP: Bool) throws(MissingBytes) -> Bool {
    var end = first.end
    // Few chunks follow the image.
    for _ in 0..<64 where end < length {
      guard let next = try chunk(at: end, ofWebP: ofWebP) else { return false }
      end = next.end
    }
    return end == length
  }

  private static let metadataKinds = ["eXIf", "iTXt", "EXIF", "XMP "].map { Array($0.utf8) }
  private static let initials = metadataKinds.map { $0[0] }

  // MARK: Minolta's RAW files

  /// They begin with blocks, one of which is a TIFF structure.
  private mutating func walkMRW() throws(MissingBytes) {
    var position = 8
    for _ in 0..<Self.mostParts {
      if try known.has("\0TTW", at: position) { return try walkTIFF(at: position + 8) }
      guard let size = try known.number(at: position + 4, count: 4, isBigEndian: true) else { return }
      position += 8 + size
    }
  }
}
