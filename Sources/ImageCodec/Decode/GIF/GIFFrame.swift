import ThumbnailCore

/// The header of a frame of a GIF.
///
/// Parsed as libnsgif does; headers that libnsgif might read differently are handed over.
struct GIFFrame {
  /// The disposal of a frame at its end.
  enum Disposal {
    case none
    /// Its rectangle is cleared.
    case background
    /// The pixels before the frame are restored.
    case previous
  }

  /// The size of the whole image in pixels. The frame may cover a part of it.
  let canvas: PixelSize
  /// The upper left corner of the frame and its size. It lies within the canvas.
  let left: Int
  let top: Int
  let size: PixelSize
  let isInterlaced: Bool
  /// The index of transparent pixels.
  let transparentIndex: Int?
  let disposal: Disposal
  /// The bits of a colour index, 2 to 8.
  let codeSize: Int
  /// 256 colours: red in the lowest byte, then green, blue and alpha. Colours that the file lacks are transparent
  /// black.
  let palette: [UInt32]

  var coversCanvas: Bool { size == canvas }

  /// Reads the screen, and returns the palette of frames without their own.
  static func commonPalette(_ bytes: GIFBytes) throws(CodecError) -> [UInt32] {
    bytes.skip(10)
    let flags = try bytes.byte()
    bytes.skip(2)
    // Without any palette libnsgif uses black and white.
    return flags & 0x80 == 0 ? Self.colours([0, 0, 0, 255, 255, 255]) : try Self.palette(bytes, flags: flags)
  }

  /// Reads up to the frame's first sub-block of pixels.
  init(_ bytes: GIFBytes, canvas: PixelSize, palette common: [UInt32]) throws(CodecError) {
    (disposal, transparentIndex) = try Self.readExtensions(bytes)
    (left, top) = (try bytes.word(), try bytes.word())
    size = PixelSize(try bytes.word(), try bytes.word())
    let flags = try bytes.byte()
    palette = flags & 0x80 == 0 ? common : try Self.palette(bytes, flags: flags)
    isInterlaced = flags & 0x40 != 0
    codeSize = try bytes.byte()
    self.canvas = canvas
    guard size.width > 0, size.height > 0 else { throw .handedOver(reason: "a frame of \(size)") }
    guard left + size.width <= canvas.width, top + size.height <= canvas.height else {
      throw .damaged(.header, detail: "a frame of \(size) at \(left), \(top) in \(canvas)")
    }
    guard (2...8).contains(codeSize) else { throw .handedOver(reason: "indices of \(codeSize) bits") }
  }

  private static func palette(_ bytes: GIFBytes, flags: Int) throws(CodecError) -> [UInt32] {
    var table = [UInt8](repeating: 0, count: 3 << (flags & 7 + 1))
    var failure: CodecError?
    table.withUnsafeMutableBytes { buffer in
      do throws(CodecError) { try bytes.copy(into: buffer) } catch { failure = error }
    }
    if let failure { throw failure }
    return colours(table)
  }

  private static func colours(_ table: [UInt8]) -> [UInt32] {
    var colours = [UInt32](repeating: 0, count: 256)
    for index in 0..<table.count / 3 {
      let (red, green, blue) = (table[3 * index], table[3 * index + 1], table[3 * index + 2])
      colours[index] = UInt32(red) | UInt32(green) << 8 | UInt32(blue) << 16 | 0xFF00_0000
    }
    return colours
  }

  /// Reads extensions and the separator of the image that follows them.
  private static func readExtensions(
    _ bytes: GIFBytes
  ) throws(CodecError) -> (disposal: Disposal, transparentIndex: Int?) {
    var found: (disposal: Disposal, transparentIndex: Int?) = (.none, nil)
    while true {
      switch try bytes.byte() {
      case 0x2C: return found
      case 0x21: break
      default: throw .handedOver(reason: "neither an extension nor an image at \(bytes.position - 1)")
      }
      let label = try bytes.byte()
      if label == 0xF9 {
        let length = try bytes.byte()
        guard length >= 4 else { throw .handedOver(reason: "a graphic control extension of \(length) bytes") }
        let flags = try bytes.byte()
        bytes.skip(2)
        let index = try bytes.byte()
        // Old encoders wrote 4 for 3.
        found.disposal = [2: .background, 3: .previous, 4: .previous][flags >> 2 & 7] ?? .none
        if flags & 1 == 1 { found.transparentIndex = index }
        bytes.skip(length - 4)
      } else if label != 0xFE {
        bytes.skip(try bytes.byte())
      }
      try bytes.skipSubBlocks()
    }
  }
}
