import ThumbnailCore

/// Parses the directories of a TIFF or BigTIFF: the first one, and those in the chain, to count the pages.
///
/// Directories are often at the end of the file and may point backwards, so a stream does not always suffice. Pending
/// parts are requested in the order of the file.
struct TIFFHeader: HeaderParser {
  /// The contents of a range.
  private enum Content {
    case header
    /// The number of entries of a directory.
    case entryCount
    /// The entries of a directory, and the position of the next one.
    case entries(count: Int)
    /// The bits of the first image's first sample.
    case bits(TIFFField)
  }

  private(set) var draft: ImageProbe?
  private(set) var isSettled = false
  /// Whether a camera could have written the first directory for a RAW file.
  private(set) var mayBeRAW = false
  private var numbers = TIFFNumbers()
  /// The image of the first directory, once that has been read.
  private var image: TIFFPage?
  /// The part that is being read, and the parts to read later.
  private var current: (range: Range<Int>, content: Content) = (SniffingParser.firstRange, .header)
  private var pending: [(range: Range<Int>, content: Content)] = []
  /// The positions of the directories so far.
  private var seen: Set<Int> = []

  private static let maximumEntries = 4096
  /// The most directories that do not count as pages, so that the number of directories is limited.
  private static let mostUncounted = 64
  private static let mostBits = 128
  private static let mostChannels = 64

  mutating func parse(_ bytes: HeaderBytes) throws(CodecError) -> Range<Int>? {
    switch current.content {
    case .header: try parseHeader(bytes)
    case .entryCount: try parseEntryCount(bytes)
    case .entries(let count): try parseEntries(bytes, count: count)
    case .bits(let field):
      guard let found = field.value(bytes) else { throw cutOff() }
      let bits = min(max(1, found), Self.mostBits)
      draft?.bitsPerSample = bits
      image?.bits = bits
    }
    return next()
  }

  /// The range to read next; nil at the end.
  private mutating func next() -> Range<Int>? {
    guard let index = pending.indices.min(by: { pending[$0].range.lowerBound < pending[$1].range.lowerBound }) else {
      draft?.blockBytes = image?.blockBytes ?? 0
      isSettled = true
      return nil
    }
    current = pending.remove(at: index)
    return current.range
  }

  private mutating func request(directory position: Int) {
    guard position > 0, seen.insert(position).inserted else { return }
    pending.append((position..<position + numbers.entryCountLength, .entryCount))
  }

  private mutating func parseHeader(_ bytes: HeaderBytes) throws(CodecError) {
    numbers.isBigEndian = bytes.has("MM")
    numbers.isBig = numbers.number(bytes, at: 2, count: 2) == 43
    guard let position = numbers.offset(bytes, at: numbers.isBig ? 8 : 4) else { throw cutOff() }
    if position == 0 { throw damaged("no directory") }
    request(directory: position)
  }

  private mutating func parseEntryCount(_ bytes: HeaderBytes) throws(CodecError) {
    guard let count = numbers.number(bytes, at: 0, count: numbers.entryCountLength), count > 0,
      count <= Self.maximumEntries
    else {
      if image != nil { return }
      throw bytes.count < numbers.entryCountLength ? cutOff() : damaged("its directory makes no sense")
    }
    let start = current.range.upperBound
    pending.append(
      (start..<start + count * numbers.entryLength + numbers.offsetLength, .entries(count: count)))
  }

  private mutating func parseEntries(_ bytes: HeaderBytes, count: Int) throws(CodecError) {
    let page = TIFFPage(bytes, count: count, numbers)
    if image == nil {
      if bytes.count < count * numbers.entryLength { throw cutOff() }
      try takeFirst(page)
    } else if let pages = draft?.frameCount, !page.isOfOther || seen.count - pages > Self.mostUncounted {
      draft?.frameCount = pages + 1
    }
    request(directory: page.next)
  }

  private mutating func takeFirst(_ page: TIFFPage) throws(CodecError) {
    guard (1...Self.mostChannels).contains(page.channels) else {
      throw damaged("\(page.channels) samples for each pixel")
    }
    guard (1...Self.mostBits).contains(page.bits) else { throw damaged("samples of \(page.bits) bits") }
    // No real image is larger than 32 bits allow, and products of its sides could overflow.
    guard page.size.longerSide <= 1 << 32 else { throw damaged("a side of \(page.size.longerSide) pixels") }
    var probe = ImageProbe(format: .tiff, storedSize: page.size)
    (probe.channels, probe.bitsPerSample, probe.hasAlpha) = (page.channels, page.bits, page.hasAlpha)
    (probe.orientation, probe.frameCount) = (page.orientation, 1)
    probe.samplesPerPixel = Double(page.channels)
    (draft, image, mayBeRAW) = (probe, page, page.mayBeRAW)
    if let field = page.bitsField { pending.append((field.range, .bits(field))) }
  }
}
