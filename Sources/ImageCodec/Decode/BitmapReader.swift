import CVips
import ThumbnailCore

/// Reads the pixels of an uncompressed BMP of any size. ImageMagick, which reads the compressed ones, refuses sides
/// beyond its policy's limit, OS/2 headers and bitmaps without a file header.
struct BitmapReader {
  /// The most bytes that headers and palettes take.
  private static let longestHeader = 4096
  /// The value of samples whose rows are missing.
  private static let missing: UInt8 = 128

  let header: BitmapHeader
  private let bytes: UnsafeRawBufferPointer

  /// Whether it is of an icon: a mask of a bit a pixel, 1 where it is transparent, follows the pixels.
  private let isIcon: Bool

  /// Nil for other BMPs. `bytes` is the whole file, or a bitmap in an icon, and must outlive the reader.
  init?(_ bytes: UnsafeRawBufferPointer, isIcon: Bool = false) throws(CodecError) {
    guard let header = try BitmapHeader(HeaderBytes(Array(bytes.prefix(Self.longestHeader)))) else { return nil }
    (self.header, self.bytes, self.isIcon) = (isIcon ? header.ofIcon : header, bytes, isIcon)
  }

  var hasAlpha: Bool { isIcon || header.hasAlpha }
  private var bands: Int { hasAlpha ? 4 : 3 }

  /// All pixels as 8-bit sRGB, with alpha if the file has it. With `isTolerant` missing rows are grey.
  func image(isTolerant: Bool) throws(CodecError) -> LibvipsImage {
    let available = bytes.count - header.pixels
    guard available >= header.pixelBytes || isTolerant && available >= header.rowBytes else {
      throw .truncated(detail: "\(header.pixelBytes) bytes of pixels are announced, \(max(0, available)) are there")
    }
    let (width, height) = (header.size.width, header.size.height)
    let palette = palette()
    let rowLength = (width * header.bitsPerPixel + 7) / 8
    return try LibvipsImage.filled(
      header.size, bands: bands, missing: Self.missing
    ) { target in
      for row in 0..<height {
        let start = header.pixels + row * header.rowBytes
        guard start + rowLength <= bytes.count else { break }
        let place = (header.isTopDown ? row : height - 1 - row) * width * bands
        expand(
          UnsafeRawBufferPointer(rebasing: bytes[start..<start + rowLength]), palette,
          into: UnsafeMutableBufferPointer(rebasing: target[place..<place + width * bands]))
      }
      if isIcon { mask(target) }
    }
  }

  /// Sets an icon's alpha by its mask, unless its pixels have alpha.
  private func mask(_ target: UnsafeMutableBufferPointer<UInt8>) {
    let (width, height) = (header.size.width, header.size.height)
    let alphas = stride(from: 3, to: target.count, by: 4)
    if header.hasAlpha, alphas.contains(where: { target[$0] > 0 }) { return }
    let mask = header.mask?.clamped(to: 0..<bytes.count) ?? 0..<0
    for (pixel, place) in alphas.enumerated() {
      let row = header.isTopDown ? pixel / width : height - 1 - pixel / width
      let byte = mask.lowerBound + row * ((width + 31) / 32 * 4) + pixel % width / 8
      target[place] = mask.contains(byte) && bytes[byte] << (pixel % width % 8) & 128 > 0 ? 0 : 255
    }
  }

  private func palette() -> [[UInt8]] {
    (0..<header.palette.count).map { index in
      let start = header.palette.start + index * header.palette.stride
      return start + 3 <= bytes.count ? [bytes[start + 2], bytes[start + 1], bytes[start]] : [0, 0, 0]
    }
  }

  private func expand(
    _ row: UnsafeRawBufferPointer, _ palette: [[UInt8]], into target: UnsafeMutableBufferPointer<UInt8>
  ) {
    let depth = header.bitsPerPixel
    for x in 0..<header.size.width {
      let place = x * bands
      switch depth {
      case 24:
        for band in 0..<3 { target[place + band] = row[3 * x + 2 - band] }
      case 16, 32:
        let pixel =
          depth == 16
          ? UInt32(UInt16(littleEndian: row.loadUnaligned(fromByteOffset: 2 * x, as: UInt16.self)))
          : UInt32(littleEndian: row.loadUnaligned(fromByteOffset: 4 * x, as: UInt32.self))
        for band in 0..<(header.hasAlpha ? 4 : 3) { target[place + band] = Self.sample(pixel, header.masks[band]) }
      default:
        let shift = 8 - depth - x * depth % 8
        let index = Int(row[x * depth / 8]) >> shift & ((1 << depth) - 1)
        for band in 0..<3 { target[place + band] = palette.indices.contains(index) ? palette[index][band] : 0 }
      }
    }
  }

  /// The component of a pixel that the mask selects, scaled to 8 bits.
  private static func sample(_ pixel: UInt32, _ mask: UInt32) -> UInt8 {
    let shift = UInt32(mask.trailingZeroBitCount)
    let most = UInt64(mask >> shift)
    return UInt8(truncatingIfNeeded: (UInt64((pixel & mask) >> shift) * 255 + most / 2) / most)
  }
}
