import ThumbnailCore

/// The headers of a BMP: those of Windows (`BITMAPINFOHEADER` and its successors) and of OS/2 (`BITMAPCOREHEADER`,
/// `OS22XBITMAPHEADER`), after a file header, in an array of bitmaps, or alone as a DIB.
struct BitmapHeader: Equatable {
  /// The valid lengths of an info header, in bytes.
  static let lengths: Set<Int> = [12, 16, 40, 52, 56, 64, 108, 124]
  private static let depths: Set<Int> = [1, 2, 4, 8, 16, 24, 32]
  private static let fileHeaderLength = 14

  private(set) var size: PixelSize
  /// Whether the first row of the file is the top one.
  let isTopDown: Bool
  let bitsPerPixel: Int
  /// The bit masks of red, green, blue and alpha in a pixel of 16 or 32 bits; the alpha mask is 0 if there is none.
  private(set) var masks: [UInt32]
  /// The offset of the palette, its number of colours, and the bytes per colour: blue, green, red, and sometimes one
  /// more.
  let palette: (start: Int, count: Int, stride: Int)
  /// The offset of the pixels.
  let pixels: Int
  /// The offset of an embedded profile.
  private let profile: Int?

  var hasAlpha: Bool { masks[3] != 0 }
  /// The bytes per row, padded to 32 bits.
  var rowBytes: Int { (size.width * bitsPerPixel + 31) / 32 * 4 }
  /// The bytes from the first pixel to the last.
  var pixelBytes: Int { rowBytes * (size.height - 1) + (size.width * bitsPerPixel + 7) / 8 }

  /// Whether the bytes are a DIB: an info header without a file header.
  static func isBare(_ bytes: HeaderBytes) -> Bool {
    guard let length = bytes.littleEndian(at: 0, count: 4), lengths.contains(length) else { return false }
    let planes = length == 12 ? 8 : 12
    return bytes.littleEndian(at: planes, count: 2) == 1
      && bytes.littleEndian(at: planes + 2, count: 2).map(depths.contains) == true
      && bytes.littleEndian(at: 4, count: 2) != 0 && (length == 12 || (bytes.littleEndian(at: 16, count: 4) ?? 0) <= 6)
  }

  /// Parses a header; nil for compressed pixels, and for inconsistent values.
  ///
  /// - Throws: `.unsupported` for what no reader here reads.
  init?(_ bytes: HeaderBytes) throws(CodecError) {
    var start = bytes.has("BA") ? Self.fileHeaderLength : 0
    let pixelStart: Int?
    if bytes.has("BM", at: start) {
      pixelStart = bytes.littleEndian(at: start + 10, count: 4)
      start += Self.fileHeaderLength
    } else if Self.isBare(bytes) {
      pixelStart = nil
    } else {
      return nil
    }
    guard let length = bytes.littleEndian(at: start, count: 4), Self.lengths.contains(length) else { return nil }
    func word(_ offset: Int) -> Int? { bytes.littleEndian(at: start + offset, count: 2) }
    func long(_ offset: Int) -> Int? {
      offset + 4 <= length ? bytes.littleEndian(at: start + offset, count: 4) : 0
    }
    let isCore = length == 12
    guard let width = isCore ? word(4) : long(4), let height = isCore ? word(6) : long(8),
      let depth = word(isCore ? 10 : 14), let compression = isCore ? 0 : long(16), let used = isCore ? 0 : long(32)
    else { return nil }
    if depth == 64 || [4, 5].contains(compression), length >= 40 {
      let kind = length == 64 ? "in run lengths of 24 bits" : "with a JPEG or PNG in it"
      throw .unsupported(depth == 64 ? "a BMP of 64 bits a pixel" : "a BMP \(kind)")
    }
    guard Self.depths.contains(depth) else { return nil }
    // Signed 32-bit numbers: a negative height means that the rows are stored top-down.
    let rows = isCore ? height : Int(Int32(truncatingIfNeeded: height))
    guard width > 0, width <= Int32.max, rows != 0, rows != Int(Int32.min) else { return nil }
    if depth <= 8, used > 1 << depth { return nil }
    profile = length == 124 && bytes.has("DEBM", at: start + 56) ? long(112).map { start + $0 } : nil
    size = PixelSize(width, abs(rows))
    isTopDown = rows < 0
    bitsPerPixel = depth
    var paletteStart = start + length
    let isOfOS2 = length == 16 || length == 64
    switch (compression, depth) {
    case (0, _): masks = depth == 16 ? [0x7C00, 0x3E0, 0x1F, 0] : [0xFF_0000, 0xFF00, 0xFF, 0]
    case (3, 16), (3, 32), (6, 16), (6, 32):
      guard !isOfOS2 else { return nil }
      // In older headers the masks follow the header, in newer ones they are part of it.
      let count = length >= 56 || compression == 6 ? 4 : 3
      let found = (0..<count).compactMap { bytes.littleEndian(at: start + 40 + 4 * $0, count: 4) }.map { UInt32($0) }
      guard found.count == count, found.prefix(3).allSatisfy({ $0 != 0 }) else { return nil }
      masks = found + (count == 3 ? [0] : [])
      if length == 40 { paletteStart += 4 * count }
    default: return nil
    }
    let stride = isCore ? 3 : 4
    let most = depth <= 8 ? 1 << depth : 256
    let wanted = depth <= 8 ? (used == 0 ? most : min(used, most)) : 0
    // Some programs leave the palette out of the offset, or write none.
    let offset = pixelStart.flatMap { $0 > paletteStart || depth > 8 && $0 >= start + length ? $0 : nil }
    let room = offset.map { max(0, $0 - paletteStart) / stride } ?? wanted
    palette = (paletteStart, min(wanted, room), stride)
    pixels = offset ?? paletteStart + (depth <= 8 ? wanted : min(used, most)) * stride
  }

  /// An icon's mask, after the pixels; nil if a profile is there instead.
  var mask: Range<Int>? {
    let (start, length) = (pixels + rowBytes * size.height, (size.width + 31) / 32 * 4 * size.height)
    return profile.map { $0 >= start && $0 < start + length } == true ? nil : start..<start + length
  }

  /// The header as that of a bitmap in an icon: its height includes the mask, and pixels of 32 bits have alpha.
  var ofIcon: BitmapHeader {
    var header = self
    header.size.height /= 2
    header.masks[3] = bitsPerPixel == 32 ? ~masks[0] & ~masks[1] & ~masks[2] : 0
    return header
  }

  static func == (lhs: BitmapHeader, rhs: BitmapHeader) -> Bool {
    lhs.size == rhs.size && lhs.isTopDown == rhs.isTopDown && lhs.bitsPerPixel == rhs.bitsPerPixel
      && lhs.masks == rhs.masks && lhs.palette == rhs.palette && lhs.pixels == rhs.pixels
  }
}
