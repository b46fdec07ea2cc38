import HEIFContainer
import ThumbnailCore

/// The header of a JPEG 2000 (ISO/IEC 15444-1), a JP2 file or a bare codestream. Files that libvips would show wrongly are
/// refused.
struct JPEG2000Header {
  /// The size of the tiles.
  private let tile: PixelSize
  private let size: PixelSize
  /// The bytes of a decoded pixel: OpenJPEG has samples of 32 bits.
  private let pixelBytes: Int

  /// - Throws: `.unsupported`, `.truncated`, `.damaged(.header, …)` and `.unreadableBody`.
  init(_ body: ByteSource) throws(CodecError) {
    let codestream = try Self.codestream(of: body)
    let header = HeaderBytes(try body.bytes(at: codestream.lowerBound, length: 42 + 3 * 4))
    guard let count = header.bigEndian(at: 40, count: 2) else { throw .truncated(detail: "in the header") }
    // Sizes and places in the marker segment SIZ, which is first.
    let sides = (0..<8).map { header.bigEndian(at: 8 + 4 * $0, count: 4) ?? 0 }
    (size, tile) = (PixelSize(sides[0], sides[1]), PixelSize(sides[4], sides[5]))
    guard header.has([0xFF, 0x4F, 0xFF, 0x51]), min(size.width, size.height, tile.width, tile.height, count) > 0 else {
      throw .damaged(.header, detail: "the header has no tiles")
    }
    guard sides[2...3] == [0, 0], sides[6...7] == [0, 0] else { throw .unsupported("a JPEG 2000 beside its grid") }
    // Precision, and distances of samples across and down.
    let components = (0..<min(count, 4)).map { component in (0..<3).map { header[42 + 3 * component + $0] } }
    guard count <= 4, components.allSatisfy({ $0 == components[0] }), components[0][1...] == [1, 1],
      let precision = components[0][0], (7...15).contains(precision)
    else { throw .unsupported("a JPEG 2000 of these components") }
    pixelBytes = 5 * count
    try Self.checkOrder(body.part(codestream))
  }

  /// How often tiles can be halved without a rest.
  var mostHalvings: Int {
    tile.width >= size.width && tile.height >= size.height
      ? 32 : min(tile.width.trailingZeroBitCount, tile.height.trailingZeroBitCount)
  }

  /// The bytes of the tiles that are decoded for a row of the image, after some halvings.
  func blockBytes(halvings: Int) -> Int {
    let rows = PixelSize(size.width >> halvings + 1, min(tile.height, size.height) >> halvings + 1)
    return rows.pixelCount * pixelBytes
  }

  /// The place of the codestream in the file.
  private static func codestream(of body: ByteSource) throws(CodecError) -> Range<Int> {
    if try body.bytes(at: 0, length: 2) == [0xFF, 0x4F] { return 0..<body.count }
    var position = 0
    for _ in 0..<BoxCursor.mostBoxes where position < body.count {
      let header = try BoxHeader(try body.bytes(at: position, length: BoxHeader.mostBytes))
      let content = position + header.headerLength
      // The last box may have no length, or in a truncated file a length beyond its end.
      let end = max(content, header.length.map { min(position + $0, body.count) } ?? body.count)
      if header.kind == "jp2c" { return content..<end }
      if header.kind == "jp2h" {
        let boxes = BoxCursor(try body.bytes(at: content, length: min(end - content, mostColourBytes)))
        try check(boxes)
      }
      position = end
    }
    throw .truncated(detail: "before the codestream")
  }

  /// The most bytes of the boxes about colours, a profile included.
  private static let mostColourBytes = 8 << 20

  /// Refuses what libvips does not heed of the boxes about colours.
  private static func check(_ header: BoxCursor) throws(CodecError) {
    var isFirst = true
    for (kind, box) in try header.boxes() {
      var box = box
      switch kind {
      case "pclr": throw .unsupported("a JPEG 2000 with a palette")
      case "colr" where isFirst:
        isFirst = false
        let method = try box.number(1)
        _ = try box.number(2)
        // sRGB and gray; inks may also have a profile.
        if method == 1, case let space = try box.number(4), space != 16, space != 17 {
          throw .unsupported("JPEG 2000 in the colour space \(space)")
        }
        if method > 1, ICCProfile.colourCount(box.remaining) == 4 { throw .unsupported("a JPEG 2000 of inks") }
      case "cdef":
        // The channel, 0 for a colour or 1 for alpha, and the number of the colour.
        let count = try box.number(2)
        for place in 0..<count {
          let definition = [try box.number(2), try box.number(2), try box.number(2)]
          let isAlpha = place == count - 1 && definition == [place, 1, 0]
          if !isAlpha, definition != [place, 0, place + 1] { throw .unsupported("a JPEG 2000 of these channels") }
        }
      default: break
      }
    }
  }

  /// Refuses parts of a tile between those of others, at which OpenJPEG ends the process.
  private static func checkOrder(_ codestream: ByteSource) throws(CodecError) {
    var (place, tiles) = (2, Set<Int>())
    var last: Int?
    while true {
      let head = HeaderBytes(try codestream.bytes(at: place, length: 10))
      guard let marker = head.bigEndian(at: 0, count: 2), let length = head.bigEndian(at: 2, count: 2) else { return }
      if marker == 0xFF90 {
        guard let tile = head.bigEndian(at: 4, count: 2), let bytes = head.bigEndian(at: 6, count: 4) else { return }
        if tile != last, !tiles.insert(tile).inserted { throw .unsupported("a JPEG 2000 of interleaved tiles") }
        // The last part may go to the end.
        if bytes < 14 { return }
        (last, place) = (tile, place + bytes)
      } else {
        if last != nil || length < 2 { return }
        place += 2 + length
      }
    }
  }
}
