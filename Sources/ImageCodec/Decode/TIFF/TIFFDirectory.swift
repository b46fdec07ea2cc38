import CTIFF
import ThumbnailCore

/// The storage of the pixels of a TIFF's current directory, if `TIFFRowSource` can read it.
struct TIFFDirectory {
  /// How blocks of pixels are read.
  enum Blocks {
    /// Whole strips of `rows` rows.
    case strips(rows: Int)
    /// Row by row, since the strips are long. Any row that is a multiple of `start` can be read first.
    case scanlines(start: Int)
    case tiles(PixelSize)
    /// Rows that libtiff converts to RGB: of JPEG as in TIFF 6.0.
    case colours(rows: Int)
  }

  let size: PixelSize
  let samples: TIFFSamples
  /// Whether each strip or tile has one sample of each pixel.
  let isPlanar: Bool
  /// Red, green, blue, or a gray, for each index of 8 bits: 256 entries.
  let palette: [[UInt8]]?
  let blocks: Blocks

  /// Whether libvips reads the same from it.
  var isPlain: Bool { !isPlanar && (samples.isIdentity || palette != nil || samples.isMinWhite) }
  /// The bytes of a stored pixel and row, all samples together.
  var pixelBytes: Int { samples.stored * samples.kind.bytes }
  var rowBytes: Int { size.width * pixelBytes }
  /// The channels of a pixel as decoded.
  var channels: Int { palette.map(\.[0].count) ?? samples.channels }

  /// Beyond these, as in libvips, a file is odd.
  private static let longestTileSide = 10_000
  private static let mostTileBytes = 100_000_000
  /// Strips of more rows are read row by row, as libvips does: the two do not accept the same damaged files.
  private static let mostStripRows = 128

  /// - Parameter namesExtraSamples: Whether the file defines the samples beside the colours. If not, libtiff calls them
  ///   unspecified.
  /// - Throws: `.handedOver` for files that libvips reads, `.unsupported` for files that nothing here reads,
  ///   `.damaged(.header, …)` if the size is not the probed one.
  init(_ file: TIFFFile, expecting expected: PixelSize, namesExtraSamples: Bool) throws(CodecError) {
    size = PixelSize(file.longNumber(TIFFTAG_IMAGEWIDTH), file.longNumber(TIFFTAG_IMAGELENGTH))
    guard size == expected else {
      throw .damaged(.header, detail: "the header says \(expected), libtiff \(size)")
    }
    let (bits, stored) = (file.number(TIFFTAG_BITSPERSAMPLE), file.number(TIFFTAG_SAMPLESPERPIXEL))
    let (photometric, compression) = (file.number(TIFFTAG_PHOTOMETRIC), file.number(TIFFTAG_COMPRESSION))
    guard TIFFIsCODECConfigured(UInt16(truncatingIfNeeded: compression)) == 1 else {
      throw .unsupported("a TIFF with compression \(compression)")
    }
    // Without one, samples may mean anything; the two of Lab are not those that libvips reads.
    guard ![-1, Int(PHOTOMETRIC_ICCLAB), Int(PHOTOMETRIC_ITULAB)].contains(photometric) else {
      throw .unsupported("a TIFF \(photometric < 0 ? "without" : "of this") photometric interpretation")
    }
    if compression == COMPRESSION_OJPEG {
      (isPlanar, palette) = (false, nil)
      samples = TIFFSamples(kind: .unsigned(bytes: 1), stored: 4, channels: 3)
      let isTiled = TIFFIsTiled(file.handle) != 0
      blocks = .colours(rows: max(1, file.longNumber(isTiled ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP)))
      return
    }
    let kind = try Self.kind(bits: bits, format: file.number(TIFFTAG_SAMPLEFORMAT))
    var extraKind: Int32 = 0
    let extra = Int(ctiff_extra_samples(file.handle, &extraKind))
    isPlanar = stored > 1 && file.number(TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE
    let isJPEGOfColours = compression == COMPRESSION_JPEG && photometric == PHOTOMETRIC_YCBCR && bits == 8
    // Before reading the sizes of tiles and strips, which count converted samples.
    if isJPEGOfColours { file.convertColours() }
    let colours: Int
    switch photometric {
    case Int(PHOTOMETRIC_MINISBLACK), Int(PHOTOMETRIC_MINISWHITE), Int(PHOTOMETRIC_PALETTE): colours = 1
    case Int(PHOTOMETRIC_RGB): colours = 3
    case Int(PHOTOMETRIC_YCBCR) where isJPEGOfColours && !isPlanar: colours = 3
    case Int(PHOTOMETRIC_YCBCR):
      // libvips shows chroma as colours.
      guard kind.bytes < 4, isPlanar || TIFFScanlineSize(file.handle) == size.width * stored * kind.bytes else {
        throw .unsupported("a TIFF of luma and chroma of fewer samples, without JPEG,")
      }
      colours = 3
    case Int(PHOTOMETRIC_SEPARATED) where file.number(TIFFTAG_INKSET) == INKSET_CMYK: colours = 4
    default: throw .handedOver(reason: "\(stored) samples, photometric interpretation \(photometric)")
    }
    guard stored - extra == colours, namesExtraSamples || extra <= 1 else {
      throw .handedOver(reason: "\(stored) samples of \(colours) colours")
    }
    // An extra sample that is not declared as transparency is none: it may be infrared, or memory that a program did
    // not clear.
    let isOpaque =
      extra == 0 || colours == 4 || namesExtraSamples && extraKind == EXTRASAMPLE_UNSPECIFIED
    let alpha: TIFFSamples.Alpha =
      isOpaque ? .none : extraKind == EXTRASAMPLE_ASSOCALPHA ? .premultiplied : .straight
    samples = TIFFSamples(
      kind: kind, stored: stored, channels: colours + (alpha == .none ? 0 : 1), alpha: alpha,
      isMinWhite: photometric == PHOTOMETRIC_MINISWHITE, isInk: colours == 4,
      weights: photometric == PHOTOMETRIC_YCBCR && !isJPEGOfColours ? file.lumaWeights : nil)
    if photometric == PHOTOMETRIC_PALETTE {
      guard kind == .unsigned(bytes: 1), stored == 1, let found = file.palette else {
        throw .handedOver(reason: "no palette for 8 bits")
      }
      palette = Self.colours(found)
    } else {
      palette = nil
    }
    blocks = try Self.blocks(file, size, pixelBytes: isPlanar ? kind.bytes : stored * kind.bytes, isPlanar: isPlanar)
  }

  private static func kind(bits: Int, format: Int) throws(CodecError) -> TIFFSamples.Kind {
    // 4 is undefined, which is unsigned for libvips, too.
    switch (format, bits) {
    case (1, 8), (1, 16), (1, 32), (4, 8), (4, 16), (4, 32): return .unsigned(bytes: bits / 8)
    case (2, 8), (2, 16), (2, 32): return .signed(bytes: bits / 8)
    case (3, 16), (3, 32), (3, 64): return .floatingPoint(bytes: bits / 8)
    case (1, ..<8), (4, ..<8): throw .handedOver(reason: "samples of \(bits) bits")
    default: throw .unsupported("a TIFF with samples of \(bits) bits, format \(format),")
    }
  }

  private static func blocks(
    _ file: TIFFFile, _ size: PixelSize, pixelBytes: Int, isPlanar: Bool
  ) throws(CodecError) -> Blocks {
    if TIFFIsTiled(file.handle) != 0 {
      let tile = PixelSize(file.longNumber(TIFFTAG_TILEWIDTH), file.longNumber(TIFFTAG_TILELENGTH))
      guard (1...longestTileSide).contains(tile.width), (1...longestTileSide).contains(tile.height),
        tile.pixelCount * pixelBytes <= mostTileBytes, TIFFTileSize(file.handle) == tile.pixelCount * pixelBytes
      else { throw .handedOver(reason: "tiles of \(tile)") }
      return .tiles(tile)
    }
    let rowBytes = size.width * pixelBytes
    guard TIFFScanlineSize(file.handle) == rowBytes else { throw .handedOver(reason: "padded rows") }
    let rows = file.longNumber(TIFFTAG_ROWSPERSTRIP)
    // With separate planes, rows would be decoded again for each plane.
    if rows > mostStripRows, !isPlanar {
      return .scanlines(start: file.number(TIFFTAG_COMPRESSION) == COMPRESSION_NONE ? 1 : rows)
    }
    guard rows > 0, !isPlanar || min(rows, size.height) * rowBytes <= mostTileBytes,
      TIFFStripSize(file.handle) <= min(rows, size.height) * rowBytes
    else {
      throw .handedOver(reason: "strips of \(rows) rows")
    }
    return .strips(rows: rows)
  }

  /// The palette of 8 bits, as in libvips: old files have low bytes only, and a palette of grays gives gray.
  private static func colours(_ palette: [[UInt16]]) -> [[UInt8]] {
    let shift: UInt16 = palette.contains { $0.contains { $0 > 255 } } ? 8 : 0
    let isGray = palette[0] == palette[1] && palette[1] == palette[2]
    return (0..<256).map { index in
      palette.prefix(isGray ? 1 : 3).map { UInt8(truncatingIfNeeded: $0[index] >> shift) }
    }
  }
}
