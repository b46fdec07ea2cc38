import ThumbnailCore

/// Parses a PNG's chunks up to the first pixel data, and the later ones for the orientation. An animated PNG (APNG) is
/// read as its default image.
struct PNGHeader: HeaderParser {
  private enum Awaiting {
    case sniffed
    case chunk
    case body(Chunk)
  }

  private enum Chunk { case header, exif, colour, light }

  private(set) var draft: ImageProbe?
  private(set) var isSettled = false
  private var awaiting = Awaiting.sniffed
  private var position = 8
  private var nextChunk = 8
  private var chunks = 0
  /// May come before the range that it belongs to.
  private var peakLight: Int?

  /// The longest EXIF chunk that is parsed, in bytes.
  private static let longestExif = 65_536
  private static let maximumChunks = 100_000
  private static let colourChunks: [(StaticString, Chunk)] = [("cICP", .colour), ("cLLI", .light)]

  mutating func parse(_ bytes: HeaderBytes) throws(CodecError) -> Range<Int>? {
    switch awaiting {
    case .sniffed: break
    case .chunk: return try parseChunk(bytes)
    case .body(.header): try parseHeader(bytes)
    case .body(.exif): draft?.orientation = Exif(bytes, at: 0)?.orientation ?? 1
    case .body(.colour): draft?.codedLight = CodedLight(codePoints: bytes)
    case .body(.light):
      let light = (bytes.bigEndian(at: 0, count: 4) ?? 0) / 10_000
      peakLight = light > 0 ? light : nil
    }
    draft?.codedLight?.peakLight = peakLight
    return expectChunk()
  }

  private mutating func expectChunk() -> Range<Int> {
    awaiting = .chunk
    position = nextChunk
    return position..<position + 8
  }

  private mutating func parseChunk(_ bytes: HeaderBytes) throws(CodecError) -> Range<Int>? {
    chunks += 1
    guard let length = bytes.bigEndian(at: 0, count: 4), bytes.count >= 8 else {
      // The reader of the pixels notices a truncation after them.
      if isSettled { return nil }
      throw cutOff()
    }
    guard length < 1 << 31, chunks < Self.maximumChunks else {
      if isSettled { return nil }
      throw damaged("its chunks make no sense")
    }
    nextChunk = position + 12 + length
    let body = position + 8
    if draft == nil {
      if bytes.has("CgBI", at: 4) { throw .unsupported("a PNG as Xcode changes it for Apple's devices") }
      guard bytes.has("IHDR", at: 4), length == 13 else { throw damaged("the first chunk is not its header") }
      awaiting = .body(.header)
      return body..<body + 13
    }
    if bytes.has("eXIf", at: 4) {
      awaiting = .body(.exif)
      return body..<body + min(length, Self.longestExif)
    }
    for (name, chunk) in Self.colourChunks where !isSettled && length <= 8 && bytes.has(name, at: 4) {
      awaiting = .body(chunk)
      return body..<body + length
    }
    if !isSettled, bytes.has("tRNS", at: 4), let probe = draft, probe.hasAlpha == false {
      draft?.hasAlpha = true
      draft?.channels = probe.channels + 1
    }
    if bytes.has("IDAT", at: 4) { isSettled = true }
    if bytes.has("IEND", at: 4) {
      isSettled = true
      return nil
    }
    return expectChunk()
  }

  private mutating func parseHeader(_ bytes: HeaderBytes) throws(CodecError) {
    guard let width = bytes.bigEndian(at: 0, count: 4), let height = bytes.bigEndian(at: 4, count: 4),
      let depth = bytes[8], let colour = bytes[9], let interlace = bytes[12]
    else { throw cutOff() }
    guard let channels = [0: 1, 2: 3, 3: 3, 4: 2, 6: 4][colour], [1, 2, 4, 8, 16].contains(depth) else {
      throw damaged("colour type \(colour) of \(depth) bits")
    }
    var probe = ImageProbe(format: .png, storedSize: PixelSize(width, height))
    probe.frameCount = 1
    probe.isProgressive = interlace != 0
    probe.hasAlpha = colour >= 4
    probe.channels = channels
    probe.bitsPerSample = max(8, depth)
    probe.samplesPerPixel = Double(channels)
    draft = probe
  }
}
