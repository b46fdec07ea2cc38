import ThumbnailCore

/// Parses a GIF's screen and first frame, then counts the other frames.
///
/// The size is libnsgif's: the screen's, unless it is missing, improbable or smaller than the first frame.
struct GIFHeader: HeaderParser {
  private enum Awaiting {
    case sniffed
    case block
    case image
    case extensionLabel
    case graphicControl
    case subBlock
  }

  private(set) var draft: ImageProbe?
  private(set) var isSettled = false
  private var awaiting = Awaiting.sniffed
  private var position = 0
  private var screen = PixelSize(0, 0)
  private var isTransparent = false
  private var frames = 0
  private var steps = 0

  /// The number of parse steps allowed regardless of block sizes: more than the most allowed frames need.
  private static let freeSteps = 100_000
  /// After these steps, files whose blocks have fewer bytes than this on average are refused: they are no real images,
  /// and would keep the shared download thread busy.
  private static let smallestAverage = 32

  mutating func parse(_ bytes: HeaderBytes) throws(CodecError) -> Range<Int>? {
    steps += 1
    if steps > Self.freeSteps, position / steps < Self.smallestAverage {
      throw damaged("more than \(Self.freeSteps) blocks of hardly any bytes")
    }
    switch awaiting {
    case .sniffed:
      guard let width = bytes.littleEndian(at: 6, count: 2), let height = bytes.littleEndian(at: 8, count: 2),
        let flags = bytes[10], bytes.count >= 13
      else { throw cutOff() }
      screen = Self.isImprobable(width, height) ? PixelSize(1, 1) : PixelSize(width, height)
      return expectBlock(at: 13 + Self.colourTableLength(flags))
    case .block:
      return try parseBlock(bytes)
    case .extensionLabel:
      // 0xF9 is a graphic control extension, the only relevant one.
      awaiting = bytes[0] == 0xF9 && frames == 0 ? .graphicControl : .subBlock
      let length = bytes[0] == 0xF9 && frames == 0 ? 2 : 1
      position += 1
      return position..<position + length
    case .graphicControl:
      if let flags = bytes[1], flags & 1 == 1 { isTransparent = true }
      awaiting = .subBlock
      return position..<position + 1
    case .image:
      return try parseImage(bytes)
    case .subBlock:
      guard let length = bytes[0] else { return try endOfFile() }
      if length == 0 { return expectBlock(at: position + 1) }
      position += 1 + length
      return position..<position + 1
    }
  }

  private mutating func expectBlock(at offset: Int) -> Range<Int> {
    awaiting = .block
    position = offset
    return offset..<offset + 1
  }

  private mutating func parseBlock(_ bytes: HeaderBytes) throws(CodecError) -> Range<Int>? {
    switch bytes[0] {
    case 0x2C:
      awaiting = .image
      return position + 1..<position + 10
    case 0x21:
      awaiting = .extensionLabel
      position += 1
      return position..<position + 1
    case 0x3B, nil:
      return try endOfFile()
    case 0:
      return expectBlock(at: position + 1)
    default:
      // Garbage after a frame is ignored, as decoders do.
      return try endOfFile()
    }
  }

  private mutating func parseImage(_ bytes: HeaderBytes) throws(CodecError) -> Range<Int>? {
    guard let left = bytes.littleEndian(at: 0, count: 2), let top = bytes.littleEndian(at: 2, count: 2),
      let width = bytes.littleEndian(at: 4, count: 2), let height = bytes.littleEndian(at: 6, count: 2),
      let flags = bytes[8]
    else { return try endOfFile() }
    frames += 1
    if frames == 1 {
      let size = PixelSize(max(screen.width, left + width), max(screen.height, top + height))
      var probe = ImageProbe(format: .gif, storedSize: size)
      probe.hasAlpha = isTransparent || size != PixelSize(width, height)
      probe.channels = 4
      probe.isProgressive = flags & 0x40 != 0
      probe.samplesPerPixel = 4
      draft = probe
      isSettled = true
    }
    draft?.frameCount = frames
    awaiting = .subBlock
    // The sub-blocks follow the colour table and one byte for the code size.
    position += 10 + Self.colourTableLength(flags) + 1
    return position..<position + 1
  }

  private func endOfFile() throws(CodecError) -> Range<Int>? {
    if frames == 0 { throw damaged("no frame") }
    return nil
  }

  private static func colourTableLength(_ flags: Int) -> Int { flags & 0x80 == 0 ? 0 : 3 << (flags & 7 + 1) }

  /// libnsgif ignores screens of these sizes, which old encoders wrote for every image.
  private static func isImprobable(_ width: Int, _ height: Int) -> Bool {
    let monitors = [(640, 480), (640, 512), (800, 600), (1024, 768), (1280, 1024), (1600, 1200)]
    return width == 0 || height == 0 || width > 2048 || height > 2048
      || monitors.contains { $0 == (width, height) }
  }
}
