import CTIFF
import ThumbnailCore

/// How the pixels of a TIFF's current directory are stored, if it is one of the kinds that `TIFFRowSource` reads.
struct TIFFDirectory {
  /// How blocks of pixels are read.
  enum Blocks {
    /// Whole strips of so many rows.
    case strips(rows: Int)
    /// Row by row, since the strips are long.
    case scanlines
    case tiles(PixelSize)
  }

  let size: PixelSize
  /// Samples for each stored pixel.
  let samples: Int
  /// 1 or 2.
  let sampleBytes: Int
  let isMinWhite: Bool
  /// Red, green, blue, or a gray, for each index of 8 bits: 256 of so many bytes.
  let palette: [[UInt8]]?
  let blocks: Blocks

  /// The bytes of a row as stored.
  var rowBytes: Int { size.width * samples * sampleBytes }
  /// The channels of a pixel as decoded.
  var channels: Int { palette.map(\.[0].count) ?? samples }

  /// Beyond these, as in libvips, a file is odd.
  private static let longestTileSide = 10_000
  private static let mostTileBytes = 100_000_000
  /// Strips of more rows are read row by row, as libvips does: the two do not accept the same damaged files.
  private static let mostStripRows = 128

  /// - Throws: `.handedOver` for all other kinds, `.damaged(.header, …)` if the size is not the one that was probed.
  init(_ file: TIFFFile, expecting expected: PixelSize) throws(CodecError) {
    size = PixelSize(file.longNumber(TIFFTAG_IMAGEWIDTH), file.longNumber(TIFFTAG_IMAGELENGTH))
    guard size == expected else {
      throw .damaged(.header, detail: "the header says \(expected), libtiff \(size)")
    }
    let (bits, samples) = (file.number(TIFFTAG_BITSPERSAMPLE), file.number(TIFFTAG_SAMPLESPERPIXEL))
    let (photometric, compression) = (file.number(TIFFTAG_PHOTOMETRIC), file.number(TIFFTAG_COMPRESSION))
    guard bits == 8 || bits == 16 else { throw .handedOver(reason: "samples of \(bits) bits") }
    // 1 are unsigned integers; 4 is undefined, which libvips takes for the same.
    guard [1, 4].contains(file.number(TIFFTAG_SAMPLEFORMAT)) else { throw .handedOver(reason: "other than unsigned") }
    guard samples == 1 || file.number(TIFFTAG_PLANARCONFIG) == PLANARCONFIG_CONTIG else {
      throw .handedOver(reason: "planes apart")
    }
    guard TIFFIsCODECConfigured(UInt16(truncatingIfNeeded: compression)) == 1, compression != COMPRESSION_OJPEG else {
      throw .handedOver(reason: "compression \(compression)")
    }
    var kind: Int32 = 0
    let extra = Int(ctiff_extra_samples(file.handle, &kind))
    guard extra == 0 || extra == 1 && kind != EXTRASAMPLE_ASSOCALPHA else {
      throw .handedOver(reason: "\(extra) extra samples of kind \(kind)")
    }
    (self.samples, sampleBytes) = (samples, bits / 8)
    let isJPEGOfColours = compression == COMPRESSION_JPEG && photometric == PHOTOMETRIC_YCBCR && bits == 8
    // Before the sizes of tiles and strips are read, which are of the samples as converted.
    if isJPEGOfColours { file.convertColours() }
    isMinWhite = photometric == PHOTOMETRIC_MINISWHITE
    switch (photometric, samples) {
    case (Int(PHOTOMETRIC_MINISBLACK), 1...2), (Int(PHOTOMETRIC_MINISWHITE), 1...2), (Int(PHOTOMETRIC_RGB), 3...4):
      palette = nil
    case (Int(PHOTOMETRIC_YCBCR), 3) where isJPEGOfColours:
      palette = nil
    case (Int(PHOTOMETRIC_PALETTE), 1):
      guard let found = file.palette else { throw .handedOver(reason: "no palette for 8 bits") }
      palette = Self.colours(found)
    default:
      throw .handedOver(reason: "\(samples) samples, photometric interpretation \(photometric)")
    }
    let pixelBytes = samples * bits / 8
    blocks = try Self.blocks(file, size, pixelBytes: pixelBytes)
  }

  private static func blocks(_ file: TIFFFile, _ size: PixelSize, pixelBytes: Int) throws(CodecError) -> Blocks {
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
    if rows > mostStripRows { return .scanlines }
    guard rows > 0, TIFFStripSize(file.handle) <= min(rows, size.height) * rowBytes else {
      throw .handedOver(reason: "strips of \(rows) rows")
    }
    return .strips(rows: rows)
  }

  /// The palette of 8 bits as libvips makes it: of old files the low bytes count, and one of grays gives gray.
  private static func colours(_ palette: [[UInt16]]) -> [[UInt8]] {
    let shift: UInt16 = palette.contains { $0.contains { $0 > 255 } } ? 8 : 0
    let isGray = palette[0] == palette[1] && palette[1] == palette[2]
    return (0..<256).map { index in
      palette.prefix(isGray ? 1 : 3).map { UInt8(truncatingIfNeeded: $0[index] >> shift) }
    }
  }
}
