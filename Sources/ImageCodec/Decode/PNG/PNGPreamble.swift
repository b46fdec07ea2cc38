import ThumbnailCore

/// The chunks of a PNG before its pixels.
struct PNGPreamble {
  enum Colour: UInt8 {
    case gray = 0
    case rgb = 2
    case indexed = 3
    case grayAlpha = 4
    case rgba = 6

    /// The stored samples per pixel.
    var samples: Int {
      switch self {
      case .gray, .indexed: 1
      case .grayAlpha: 2
      case .rgb: 3
      case .rgba: 4
      }
    }

    fileprivate var depths: [Int] {
      switch self {
      case .gray: [1, 2, 4, 8, 16]
      case .indexed: [1, 2, 4, 8]
      case .rgb, .grayAlpha, .rgba: [8, 16]
      }
    }
  }

  let size: PixelSize
  let colour: Colour
  /// The bits per stored sample.
  let depth: Int
  let isInterlaced: Bool
  /// The palette of indexed colours: red, green and blue of each.
  private(set) var palette: [UInt8]?
  /// The alpha values of the palette's first colours, or the samples of the transparent colour, 16 bits each.
  private(set) var transparency: [UInt8]?
  private(set) var profile: [UInt8]?

  /// The bits of a stored pixel.
  var pixelBits: Int { colour.samples * depth }
  /// The bytes of a stored row of `width` pixels, without its filter.
  func rowBytes(_ width: Int) -> Int { (width * pixelBits + 7) / 8 }

  /// Reads the chunks up to the first chunk of pixels, whose data comes next.
  ///
  /// - Throws: `.handedOver` for files that libpng reads by rules of its own.
  init(_ chunks: PNGChunkReader) throws(CodecError) {
    try chunks.readSignature()
    (size, colour, depth, isInterlaced) = try Self.readHeader(chunks)
    var space = PNGColourSpace()
    var hasPalette = false
    while true {
      let chunk = try chunks.next()
      switch chunk.type {
      case .data:
        if colour == .indexed && palette == nil { throw Self.damaged("no palette") }
        profile = try space.profile()
        return
      case .palette:
        if hasPalette { throw Self.damaged("two palettes") }
        hasPalette = true
        try readPalette(chunks)
      case .transparency:
        try readTransparency(chunks)
      case .profile:
        // libpng ignores one that follows the palette.
        if hasPalette {
          try chunks.skip()
        } else {
          try space.readProfile(chunks)
        }
      case .standardRGB, .gamma, .chromaticities:
        try space.readOther(chunks, chunk)
      default:
        if chunk.type.isCritical { throw Self.damaged("the chunk \(chunk.type) before its pixels") }
        try chunks.skip()
      }
    }
  }

  private static func damaged(_ detail: String) -> CodecError { .damaged(.header, detail: detail) }

  private static func readHeader(_ chunks: PNGChunkReader) throws(CodecError) -> (PixelSize, Colour, Int, Bool) {
    let chunk = try chunks.next()
    guard chunk.type == .header, chunk.length == 13 else { throw damaged("the first chunk is not its header") }
    let bytes = HeaderBytes(try chunks.allData())
    guard try chunks.finish() else { throw damaged("the CRC of its header is wrong") }
    guard let width = bytes.bigEndian(at: 0, count: 4), let height = bytes.bigEndian(at: 4, count: 4),
      let depth = bytes[8], let colour = bytes[9].flatMap({ Colour(rawValue: UInt8($0)) }),
      colour.depths.contains(depth),
      bytes[10] == 0, bytes[11] == 0, let interlace = bytes[12], interlace < 2
    else { throw damaged("its header makes no sense") }
    return (PixelSize(width, height), colour, depth, interlace == 1)
  }

  private mutating func readPalette(_ chunks: PNGChunkReader) throws(CodecError) {
    if transparency != nil && colour == .rgb { throw .handedOver(reason: "a PNG's palette after its transparency") }
    let bytes = try Self.short(chunks, 768)
    guard try chunks.finish() else { throw Self.damaged("the CRC of its palette is wrong") }
    guard colour == .indexed else { return }
    guard let bytes, !bytes.isEmpty, bytes.count % 3 == 0 else { throw Self.damaged("its palette makes no sense") }
    palette = Array(bytes.prefix(3 << depth))
  }

  private mutating func readTransparency(_ chunks: PNGChunkReader) throws(CodecError) {
    // libpng ignores it beside an alpha channel.
    if colour == .grayAlpha || colour == .rgba { return try chunks.skip() }
    let lengths =
      switch colour {
      case .indexed: 1...max(1, (palette?.count ?? 0) / 3)
      default: colour.samples * 2...colour.samples * 2
      }
    guard colour != .indexed || palette != nil, transparency == nil, let bytes = try Self.short(chunks, 256),
      lengths.contains(bytes.count), try chunks.finish()
    else { throw .handedOver(reason: "an invalid transparency chunk of a PNG") }
    transparency = bytes
  }

  /// A chunk's data, nil if it is longer than `maximum`.
  private static func short(_ chunks: PNGChunkReader, _ maximum: Int) throws(CodecError) -> [UInt8]? {
    chunks.remaining > maximum ? nil : try chunks.allData()
  }
}
