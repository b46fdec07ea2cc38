import ThumbnailCore

/// Parses a WebP's first chunk and, for an extended file, the others: for the orientation, which encoders put last, and
/// to count the frames.
struct WebPHeader: HeaderParser {
  private enum Awaiting {
    case sniffed
    case first
    case chunk
    case frame
    case exif
  }

  private(set) var draft: ImageProbe?
  private(set) var isSettled = false
  private var awaiting = Awaiting.sniffed
  private var position = 12
  private var nextChunk = 12
  private var end = 0
  private var frames = 0
  private var isAnimated = false
  private var mayHaveExif = false
  private var sawPixels = false

  private static let longestExif = 65_536

  mutating func parse(_ bytes: HeaderBytes) throws(CodecError) -> Range<Int>? {
    switch awaiting {
    case .sniffed:
      guard let length = bytes.littleEndian(at: 4, count: 4) else { throw cutOff() }
      end = 8 + length
      awaiting = .first
      return 12..<30
    case .first:
      return try parseFirst(bytes)
    case .chunk:
      return try parseChunk(bytes)
    case .frame:
      // A frame's image data follows 16 bytes of geometry; an ALPH chunk may precede the colours.
      if frames == 1, bytes.has("VP8L", at: 16) { draft?.isLossless = true }
      return expectChunk()
    case .exif:
      let start = bytes.has("Exif\0\0") ? 6 : 0
      draft?.orientation = Exif(bytes, at: start)?.orientation ?? 1
      mayHaveExif = false
      return expectChunk()
    }
  }

  private mutating func parseFirst(_ bytes: HeaderBytes) throws(CodecError) -> Range<Int>? {
    guard let length = bytes.littleEndian(at: 4, count: 4) else { throw cutOff() }
    if bytes.has("VP8X") {
      guard let flags = bytes[8], let width = bytes.littleEndian(at: 12, count: 3),
        let height = bytes.littleEndian(at: 15, count: 3)
      else { throw cutOff() }
      isAnimated = flags & 0x02 != 0
      mayHaveExif = flags & 0x08 != 0
      setDraft(width: width + 1, height: height + 1, hasAlpha: flags & 0x10 != 0)
      draft?.frameCount = isAnimated ? nil : 1
      nextChunk = 12 + 8 + length + (length & 1)
      return expectChunk()
    }
    if bytes.has("VP8L") {
      guard let signature = bytes[8], let packed = bytes.littleEndian(at: 9, count: 4) else { throw cutOff() }
      guard signature == 0x2F else { throw damaged("no lossless signature") }
      setDraft(width: packed & 0x3FFF + 1, height: packed >> 14 & 0x3FFF + 1, hasAlpha: packed >> 28 & 1 == 1)
      draft?.isLossless = true
    } else if bytes.has("VP8 ") {
      guard let width = bytes.littleEndian(at: 14, count: 2), let height = bytes.littleEndian(at: 16, count: 2) else {
        throw cutOff()
      }
      guard bytes.has([0x9D, 0x01, 0x2A], at: 11) else { throw damaged("no key frame") }
      setDraft(width: width & 0x3FFF, height: height & 0x3FFF, hasAlpha: false)
    } else {
      throw damaged("its first chunk is unknown")
    }
    isSettled = true
    return nil
  }

  private mutating func setDraft(width: Int, height: Int, hasAlpha: Bool) {
    var probe = ImageProbe(format: .webp, storedSize: PixelSize(width, height))
    probe.frameCount = 1
    probe.hasAlpha = hasAlpha
    probe.channels = hasAlpha ? 4 : 3
    probe.samplesPerPixel = hasAlpha ? 2.5 : 1.5
    draft = probe
  }

  private mutating func expectChunk() -> Range<Int>? {
    isSettled = sawPixels && !mayHaveExif
    // Frames are counted to the end; other files need no more parsing.
    if nextChunk + 8 > end || (isSettled && !isAnimated) {
      isSettled = true
      return nil
    }
    awaiting = .chunk
    position = nextChunk
    return position..<position + 8
  }

  private mutating func parseChunk(_ bytes: HeaderBytes) throws(CodecError) -> Range<Int>? {
    guard let length = bytes.littleEndian(at: 4, count: 4), bytes.count >= 8 else {
      // Chunks after the image may be missing; the decoder finds out whether the image itself is complete.
      if sawPixels {
        isSettled = true
        return nil
      }
      throw cutOff()
    }
    nextChunk = position + 8 + length + (length & 1)
    let body = position + 8
    if bytes.has("EXIF"), mayHaveExif {
      awaiting = .exif
      return body..<body + min(length, Self.longestExif)
    }
    if bytes.has("ANMF") {
      sawPixels = true
      frames += 1
      draft?.frameCount = frames
      awaiting = .frame
      return body..<body + min(length, 20)
    }
    if bytes.has("VP8L") || bytes.has("VP8 ") {
      sawPixels = true
      if bytes.has("VP8L") { draft?.isLossless = true }
    }
    return expectChunk()
  }
}
