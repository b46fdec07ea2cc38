import ThumbnailCore

/// Parses the first directory of a TIFF or BigTIFF, then follows the chain to count the pages.
///
/// Directories are often at the end of the file and may point backwards, so a stream does not always suffice.
struct TIFFHeader: HeaderParser {
  private enum Awaiting {
    case sniffed
    case entryCount
    case directory
    case bits
    case nextOffset
  }

  private enum Tag {
    static let width = 256
    static let height = 257
    static let bitsPerSample = 258
    static let photometric = 262
    static let orientation = 274
    static let samplesPerPixel = 277
    static let rowsPerStrip = 278
    static let planarConfiguration = 284
    static let tileWidth = 322
    static let tileHeight = 323
    static let subdirectories = 330
    static let extraSamples = 338
    static let dngVersion = 50706
  }

  private(set) var draft: ImageProbe?
  private(set) var isSettled = false
  /// Whether the first directory is one that a camera could have written for a RAW file.
  private(set) var mayBeRAW = false
  private var awaiting = Awaiting.sniffed
  private var isBigEndian = false
  private var isBig = false
  private var position = 0
  private var entryCount = 0
  private var stripRows = Int.max
  private var tile: PixelSize?
  private var isPlanar = false
  private var pages = 0
  private var seen: Set<Int> = []

  private static let maximumEntries = 4096
  /// What stands for a sensor's samples in `photometric`.
  private static let filterArray = 32803

  mutating func parse(_ bytes: HeaderBytes) throws(CodecError) -> Range<Int>? {
    switch awaiting {
    case .sniffed:
      isBigEndian = bytes.has("MM")
      isBig = number(bytes, at: 2, count: 2) == 43
      guard let first = isBig ? number(bytes, at: 8, count: 8) : number(bytes, at: 4, count: 4) else { throw cutOff() }
      return try expectDirectory(at: first)
    case .entryCount:
      return try parseEntryCount(bytes)
    case .directory:
      try parseDirectory(bytes)
      guard let range = outOfLineBits(bytes) else { return settle() }
      awaiting = .bits
      return range
    case .bits:
      guard let bits = number(bytes, at: 0, count: 2) else { throw cutOff() }
      draft?.bitsPerSample = min(max(1, bits), 128)
      return settle()
    case .nextOffset:
      guard let next = number(bytes, at: 0, count: isBig ? 8 : 4) else { return nil }
      return try expectDirectory(at: next)
    }
  }

  private var entryLength: Int { isBig ? 20 : 12 }
  private var countLength: Int { isBig ? 8 : 2 }

  /// A number in the file's byte order; nil for 8-byte numbers beyond any file's length.
  private func number(_ bytes: HeaderBytes, at index: Int, count: Int) -> Int? {
    guard count == 8 else { return bytes.number(at: index, count: count, isBigEndian: isBigEndian) }
    guard bytes[isBigEndian ? index : index + 7] == 0 else { return nil }
    return bytes.number(at: isBigEndian ? index + 1 : index, count: 7, isBigEndian: isBigEndian)
  }

  private mutating func expectDirectory(at offset: Int) throws(CodecError) -> Range<Int>? {
    guard offset > 0, seen.insert(offset).inserted else {
      if pages == 0 { throw damaged("no directory") }
      return nil
    }
    awaiting = .entryCount
    position = offset
    return offset..<offset + countLength
  }

  private mutating func parseEntryCount(_ bytes: HeaderBytes) throws(CodecError) -> Range<Int>? {
    guard let count = number(bytes, at: 0, count: countLength), count > 0, count <= Self.maximumEntries else {
      if pages > 0 { return nil }
      throw bytes.count < countLength ? cutOff() : damaged("its directory makes no sense")
    }
    pages += 1
    entryCount = count
    if pages == 1 {
      awaiting = .directory
      let start = position + countLength
      return start..<start + count * entryLength
    }
    draft?.frameCount = pages
    return expectNextOffset()
  }

  private mutating func expectNextOffset() -> Range<Int> {
    awaiting = .nextOffset
    let start = position + countLength + entryCount * entryLength
    return start..<start + (isBig ? 8 : 4)
  }

  private mutating func settle() -> Range<Int> {
    if let probe = draft {
      // A tile may be larger than the image, and is still held whole.
      let width = max(probe.storedSize.width, tile?.width ?? 0)
      let rows = tile?.height ?? min(stripRows, probe.storedSize.height)
      let pixel = (isPlanar ? 1 : probe.channels) * max(8, probe.bitsPerSample)
      let (bits, overflow) = PixelSize(width, max(1, rows)).pixelCount.multipliedReportingOverflow(by: pixel)
      draft?.blockBytes = overflow ? .max : bits / 8
    }
    isSettled = true
    return expectNextOffset()
  }

  /// The first value of an entry, if it is stored inline.
  private func value(_ bytes: HeaderBytes, ofEntryAt start: Int) -> Int? {
    guard let kind = number(bytes, at: start + 2, count: 2) else { return nil }
    let length = [1: 1, 3: 2, 4: 4, 16: 8][kind] ?? 0
    return length > 0 ? number(bytes, at: start + (isBig ? 12 : 8), count: length) : nil
  }

  private mutating func parseDirectory(_ bytes: HeaderBytes) throws(CodecError) {
    guard bytes.count >= entryCount * entryLength else { throw cutOff() }
    var probe = ImageProbe(format: .tiff, storedSize: PixelSize(0, 0))
    (probe.channels, probe.bitsPerSample, probe.hasAlpha) = (1, 1, false)
    for index in 0..<entryCount {
      let start = index * entryLength
      guard let tag = number(bytes, at: start, count: 2) else { continue }
      if tag == Tag.extraSamples { probe.hasAlpha = true }
      if tag == Tag.subdirectories || tag == Tag.dngVersion { mayBeRAW = true }
      guard let value = value(bytes, ofEntryAt: start) else { continue }
      switch tag {
      case Tag.width: probe.storedSize.width = value
      case Tag.height: probe.storedSize.height = value
      case Tag.bitsPerSample where !isOutOfLine(bytes, entryAt: start): probe.bitsPerSample = value
      case Tag.photometric where value == Self.filterArray: mayBeRAW = true
      case Tag.orientation: probe.orientation = Orientation(exif: value).exif
      case Tag.samplesPerPixel: probe.channels = value
      case Tag.rowsPerStrip: stripRows = value
      case Tag.tileWidth: tile = PixelSize(value, tile?.height ?? 1)
      case Tag.tileHeight: tile = PixelSize(tile?.width ?? 1, value)
      case Tag.planarConfiguration: isPlanar = value == 2
      default: break
      }
    }
    guard (1...64).contains(probe.channels) else { throw damaged("\(probe.channels) samples for each pixel") }
    guard (1...128).contains(probe.bitsPerSample) else { throw damaged("samples of \(probe.bitsPerSample) bits") }
    // No real image is larger than 32 bits allow, and the products below could overflow.
    guard probe.storedSize.longerSide <= 1 << 32 else {
      throw damaged("a side of \(probe.storedSize.longerSide) pixels")
    }
    probe.samplesPerPixel = Double(probe.channels)
    draft = probe
  }

  private func isOutOfLine(_ bytes: HeaderBytes, entryAt start: Int) -> Bool {
    let count = number(bytes, at: start + 4, count: isBig ? 8 : 4) ?? 0
    return count > (isBig ? 4 : 2)
  }

  /// The range with the first sample's bits, if the samples are too many to be stored inline.
  private func outOfLineBits(_ bytes: HeaderBytes) -> Range<Int>? {
    for index in 0..<entryCount {
      let start = index * entryLength
      guard number(bytes, at: start, count: 2) == Tag.bitsPerSample, isOutOfLine(bytes, entryAt: start),
        let offset = number(bytes, at: start + (isBig ? 12 : 8), count: isBig ? 8 : 4)
      else { continue }
      return offset..<offset + 2
    }
    return nil
  }
}
