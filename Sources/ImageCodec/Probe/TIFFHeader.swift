import ThumbnailCore

/// Parses the directories of a TIFF or BigTIFF: the first one, those in its field of subdirectories, and the chain, to
/// count the pages and to find the levels of a pyramid.
///
/// Directories are often at the end of the file and may point backwards, so a stream does not always suffice. Pending
/// parts are requested in the order of the file.
struct TIFFHeader: HeaderParser {
  /// The contents of a range.
  private enum Content {
    case header
    /// The number of entries of a directory.
    case entryCount(TIFFLevel.Place)
    /// The entries of a directory, and the position of the next one.
    case entries(TIFFLevel.Place, count: Int)
    /// The positions of subdirectories.
    case subdirectories(TIFFField)
    /// The bits of the first sample.
    case bits(TIFFLevel.Place, TIFFField)
    /// The offsets of a level's strips or tiles, and their lengths.
    case starts(TIFFLevel.Place, TIFFField)
    case lengths(TIFFLevel.Place, TIFFField)
  }

  private(set) var draft: ImageProbe?
  private(set) var isSettled = false
  /// Whether a camera could have written the first directory for a RAW file.
  private(set) var mayBeRAW = false
  private var numbers = TIFFNumbers()
  private var pyramid: TIFFPyramid?
  /// The part that is being read, and the parts to read later.
  private var current: (range: Range<Int>, content: Content) = (SniffingParser.firstRange, .header)
  private var pending: [(range: Range<Int>, content: Content)] = []
  private var hasChosen = false
  /// The number of strips and tiles whose places may still be read.
  private var blocksLeft = TIFFPyramid.mostBlocksInAll
  private var pages = 0
  private var seen: Set<Int> = []

  private static let first = TIFFLevel.Place.page(0)
  private static let maximumEntries = 4096
  private static let headerLength = 16

  mutating func parse(_ bytes: HeaderBytes) throws(CodecError) -> Range<Int>? {
    switch current.content {
    case .header: try parseHeader(bytes)
    case .entryCount(let place): try parseEntryCount(bytes, of: place)
    case .entries(let place, let count): try parseEntries(bytes, count: count, of: place)
    case .subdirectories(let field): request(subdirectories: field.values(bytes, first: TIFFPyramid.mostLevels))
    case .bits(let place, let field):
      guard let found = field.values(bytes, first: 1)?.first else {
        if place == Self.first { throw cutOff() }
        break
      }
      let bits = min(max(1, found), Self.mostBits)
      if place == Self.first { draft?.bitsPerSample = bits }
      pyramid?.set(bits: bits, of: place)
    case .starts(let place, let field): pyramid?.set(starts: field.values(bytes), of: place)
    case .lengths(let place, let field): pyramid?.set(lengths: field.values(bytes), of: place)
    }
    return next()
  }

  // MARK: What is read next

  /// The range to read next; nil at the end.
  private mutating func next() -> Range<Int>? {
    if pending.isEmpty, !hasChosen {
      hasChosen = true
      for (place, page) in pyramid?.chooseHalves() ?? [] { request(place, page) }
    }
    guard let index = pending.indices.min(by: { pending[$0].range.lowerBound < pending[$1].range.lowerBound }) else {
      settle()
      return nil
    }
    current = pending.remove(at: index)
    return current.range
  }

  private mutating func settle() {
    if let pyramid {
      draft?.blockBytes = pyramid.image.blockBytes
      draft?.tiff = pyramid.traits(head: 0..<Self.headerLength)
      if pyramid.isOneImage, draft?.tiff != nil { draft?.frameCount = 1 }
    }
    pyramid = nil
    isSettled = true
  }

  private mutating func request(_ range: Range<Int>, _ content: Content) {
    if !range.isEmpty { pending.append((range, content)) }
  }

  private mutating func request(directory position: Int, _ place: TIFFLevel.Place) {
    guard position > 0, seen.insert(position).inserted else { return }
    request(position..<position + numbers.entryCountLength, .entryCount(place))
  }

  private mutating func request(subdirectories positions: [Int]?) {
    for (index, position) in (positions ?? []).enumerated() { request(directory: position, .subdirectory(index)) }
  }

  /// Requests the data of a level that is not in its directory.
  private mutating func request(_ place: TIFFLevel.Place, _ page: TIFFPage) {
    if let field = page.bitsField { request(field.range(first: 1), .bits(place, field)) }
    guard let blocks = page.blocks, blocks.starts.count <= min(TIFFPyramid.mostBlocks, blocksLeft) else { return }
    blocksLeft -= blocks.starts.count
    if let starts = blocks.starts.inlineValues {
      pyramid?.set(starts: starts, of: place)
    } else {
      request(blocks.starts.range(), .starts(place, blocks.starts))
    }
    if let lengths = blocks.lengths.inlineValues {
      pyramid?.set(lengths: lengths, of: place)
    } else {
      request(blocks.lengths.range(), .lengths(place, blocks.lengths))
    }
  }

  // MARK: Directories

  private mutating func parseHeader(_ bytes: HeaderBytes) throws(CodecError) {
    numbers.isBigEndian = bytes.has("MM")
    numbers.isBig = numbers.number(bytes, at: 2, count: 2) == 43
    guard let position = numbers.offset(bytes, at: numbers.isBig ? 8 : 4) else { throw cutOff() }
    if position == 0 { throw damaged("no directory") }
    request(directory: position, Self.first)
  }

  private mutating func parseEntryCount(_ bytes: HeaderBytes, of place: TIFFLevel.Place) throws(CodecError) {
    guard let count = numbers.number(bytes, at: 0, count: numbers.entryCountLength), count > 0,
      count <= Self.maximumEntries
    else {
      if place != Self.first { return }
      throw bytes.count < numbers.entryCountLength ? cutOff() : damaged("its directory makes no sense")
    }
    let start = current.range.upperBound
    request(
      start..<start + count * numbers.entryLength + numbers.offsetLength, .entries(place, count: count))
  }

  private mutating func parseEntries(
    _ bytes: HeaderBytes, count: Int, of place: TIFFLevel.Place
  ) throws(CodecError) {
    let start = current.range.lowerBound
    let isWhole = bytes.count >= count * numbers.entryLength
    if place == Self.first, !isWhole { throw cutOff() }
    let page = TIFFPage(bytes, count: count, at: start, numbers)
    if place == Self.first {
      try takeFirst(page)
    } else if isWhole, pyramid?.take(page, at: start - numbers.entryCountLength, place) == true {
      request(place, page)
    }
    guard case .page(let index) = place else { return }
    if index == 0 || pyramid?.counts(page) == true {
      pages += 1
      draft?.frameCount = pages
    }
    request(directory: page.next, .page(index + 1))
  }

  private static let mostBits = 128
  private static let mostChannels = 64

  private mutating func takeFirst(_ page: TIFFPage) throws(CodecError) {
    guard (1...Self.mostChannels).contains(page.channels) else {
      throw damaged("\(page.channels) samples for each pixel")
    }
    guard (1...Self.mostBits).contains(page.bits) else { throw damaged("samples of \(page.bits) bits") }
    // No real image is larger than 32 bits allow, and products of its sides could overflow.
    guard page.size.longerSide <= 1 << 32 else { throw damaged("a side of \(page.size.longerSide) pixels") }
    var probe = ImageProbe(format: .tiff, storedSize: page.size)
    (probe.channels, probe.bitsPerSample, probe.hasAlpha) = (page.channels, page.bits, page.hasAlpha)
    probe.orientation = page.orientation
    probe.samplesPerPixel = Double(page.channels)
    draft = probe
    mayBeRAW = page.mayBeRAW
    pyramid = TIFFPyramid(of: page)
    if let field = page.bitsField { request(field.range(first: 1), .bits(Self.first, field)) }
    guard let field = page.subdirectories else { return }
    if let positions = field.inlineValues {
      request(subdirectories: positions)
    } else {
      request(field.range(first: TIFFPyramid.mostLevels), .subdirectories(field))
    }
  }
}
