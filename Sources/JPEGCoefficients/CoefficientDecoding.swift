import ThumbnailCore

/// The state of one run of the coefficient decoder.
struct CoefficientDecoding: ~Copyable {
  /// More segments than any encoder writes.
  private static let mostSegments = 100_000

  private let decoder: CoefficientDecoder
  private var cursor: BodyCursor
  private var tables = JPEGTables()
  private var colours = ColourModel()
  private var profile = ProfileSegments()
  private var frame: JPEGFrame?
  private var coverage: ScanCoverage?
  private var planes: [SamplePlane] = []
  /// For each component how its coefficients become samples; from its first scan.
  private var scalings: [BlockScaling?] = []
  private var entropy: EntropyBuffer
  /// Whether the scans are only found, to be decoded later a row at a time; and the scans found so far.
  private var isSurvey = false
  private var found: [JPEGRows.FoundScan] = []
  /// The part of the file that is copied instead of decoded, and the result.
  private var crop: LosslessCrop?
  private var cropped: [UInt8] = []
  private var index: JPEGRowIndex?
  private var knownIndex: [UInt8]?
  private var scans = 0
  /// Whether a scan has been decoded at least in part.
  private var hasPixels = false

  /// A run over a body; `memory` holds its bytes if it is in memory.
  init(_ decoder: CoefficientDecoder, memory: UnsafeRawBufferPointer?) {
    self.decoder = decoder
    let whole = memory == nil ? CoefficientDecoder.windowLength : decoder.body.count
    cursor = BodyCursor(decoder.body, memory: memory, windowLength: decoder.window ?? whole)
    let length = decoder.window ?? decoder.lanes?.bufferLength ?? CoefficientDecoder.windowLength
    entropy = EntropyBuffer(length: min(length, max(1, decoder.body.count)))
  }

  /// Reads up to the last scan that is needed.
  consuming func run() throws(CodecError) -> CoefficientImage {
    do throws(CodecError) {
      try readScans()
      if decoder.expectsEnd { try findEnd() }
    } catch .truncated where decoder.isTolerant && hasPixels {
      // The planes hold the samples that were decoded so far.
    }
    return try image()
  }

  /// Finds all scans of a progressive file with their tables, to decode them together.
  consuming func survey() throws(CodecError) -> JPEGRows {
    isSurvey = true
    try readScans()
    if decoder.expectsEnd { try findEnd() }
    guard let frame else { throw .damaged(.header, detail: "no frame header") }
    return JPEGRows(
      decoder, frame: frame, planes: jpegPlanes(frame), scalings: scalings.compactMap { $0 }, scans: found,
      colours: colours.colours(of: frame.components.map { $0.identifier }), profile: profile.profile)
  }

  /// Copies a part of a sequential file: see `CoefficientDecoder.crop`.
  consuming func crop(to area: PixelRectangle, index: inout [UInt8]?) throws(CodecError) -> [UInt8] {
    (crop, knownIndex) = (LosslessCrop(area), index)
    try readScans()
    if index != nil { index = self.index?.bytes }
    return cropped
  }

  private mutating func readScans() throws(CodecError) {
    guard try cursor.takeUInt16() == 0xFFD8 else { throw .damaged(.header, detail: "no JPEG") }
    for _ in 0..<Self.mostSegments {
      guard let marker = try cursor.takeMarker() else { throw .truncated(detail: "between segments") }
      switch marker {
      case 0x01, 0xD0...0xD7: continue
      case 0xD8: throw .damaged(.header, detail: "a second start of a picture")
      case 0xD9:
        // There need not be finer scans.
        if decoder.scale == .full ? coverage?.isExact == true : coverage?.isComplete == true { return }
        throw .handedOver(reason: "the file ends before every component has been seen")
      case 0x02...0xBF, 0xC8, 0xDE, 0xDF, 0xF0...0xFD:
        throw .damaged(.header, detail: "an unknown marker")
      default: break
      }
      guard let length = try cursor.takeUInt16() else { throw .truncated(detail: "in a segment") }
      guard length >= 2 else { throw .damaged(.header, detail: "a segment of length \(length)") }
      if marker == 0xDA {
        let isComplete = try readScan(try segment(length - 2))
        if isComplete { return }
      } else {
        try readSegment(marker, length: length - 2)
      }
    }
    throw .damaged(.header, detail: "more than \(Self.mostSegments) segments")
  }

  /// Verifies that the image ends: at the end of the file, else after the remaining scans.
  ///
  /// A file may lack its end marker if nothing else is missing. All blocks of a sequential file have been read by now.
  /// The last scan of a progressive file has not, and libvips finds out whether it is complete.
  private func findEnd() throws(CodecError) {
    if frame?.process == .sequential || JPEGStructure.hasEnd(decoder.body) { return }
    guard JPEGStructure.hasAllScans(decoder.body) else { throw .truncated(detail: "before the last scan") }
    throw .handedOver(reason: "no end marker behind the last scan")
  }

  /// Reads the contents of a segment.
  private mutating func segment(_ length: Int) throws(CodecError) -> SegmentBytes {
    let bytes = try cursor.take(length)
    guard bytes.count == length else { throw .truncated(detail: "in a segment") }
    return SegmentBytes(bytes)
  }

  private mutating func readSegment(_ marker: UInt8, length: Int) throws(CodecError) {
    switch marker {
    case 0xC0...0xCF, 0xDB, 0xDD: break
    case 0xE0, 0xE2, 0xEE:
      if scans == 0 { break }
      fallthrough
    default:
      cursor.skip(length)
      return
    }
    let bytes = try segment(length)
    switch marker {
    case 0xC4: try tables.readHuffmanCodes(bytes)
    case 0xCC: break
    case 0xDB: try tables.quantisers.read(bytes)
    case 0xDD: try tables.readRestartInterval(bytes)
    case 0xE0, 0xEE: colours.add(bytes, marker: marker)
    case 0xE2: try profile.add(bytes)
    default:
      guard frame == nil else { throw .damaged(.header, detail: "a second frame header") }
      var found = try JPEGFrame(bytes, marker: marker)
      guard found.size == decoder.size else {
        throw .damaged(.header, detail: "the header says \(decoder.size), the decoder \(found.size)")
      }
      found.halvesChroma = decoder.halvesChroma
      frame = found
      coverage = ScanCoverage(found, scale: decoder.scale)
      scalings = found.components.map { _ in nil }
    }
    // Of the APP2 segments only profiles matter, whose length is limited.
    if marker != 0xE2 || bytes.has("ICC_PROFILE\0") { try crop?.add(marker, bytes) }
  }

  /// Decodes or skips a scan. True when no further scan is needed.
  private mutating func readScan(_ header: SegmentBytes) throws(CodecError) -> Bool {
    guard let frame else { throw .damaged(.header, detail: "a scan without a frame header") }
    scans += 1
    if scans > JPEGStructure.mostScans { throw .limitExceeded(.scans, value: scans, maximum: JPEGStructure.mostScans) }
    guard var scan = JPEGScan(header) else { throw .handedOver(reason: "a scan header that is none") }
    let isProgressive = frame.process == .progressive
    if isProgressive {
      try check(scan)
    } else {
      // libjpeg reads such files like this and ignores the header.
      scan = JPEGScan(components: scan.components, positions: 0...63)
    }
    let indices = try latchQuantisers(scan)
    guard let before = coverage, decoder.scale == .full || before.needs(scan) else {
      guard try cursor.skipCodedData() else { throw .truncated(detail: "in a scan") }
      coverage?.add(scan, tables: tables.quantisers, isSkipped: true)
      return false
    }
    if before.contradicts(scan) {
      throw .handedOver(reason: "a scan that comes twice or refines another than there is")
    }
    if let crop {
      cropped = try copy(crop, header, scan, indices)
      return true
    }
    if planes.isEmpty {
      // Each block takes at least one bit, so nothing is allocated for a body that is too short.
      let leastBytes = decoder.isTolerant ? 1 : frame.blockCount / 8 + 1
      if cursor.remaining < leastBytes { throw .truncated(detail: "in the coded data") }
      planes = try frame.components.map { component throws(CodecError) in
        // A survey needs room for one row of MCUs.
        try SamplePlane(
          across: component.storedAcross, down: isSurvey ? component.down : component.storedDown,
          side: frame.side(of: component, at: decoder.scale), hasCoefficients: isProgressive,
          hasHistory: isProgressive && decoder.scale >= .half)
      }
    }
    var parts: [ScanReader.Part] = []
    for (number, index) in indices.enumerated() {
      parts.append(try part(index, slots: header[2 + 2 * number] ?? 0, scan: scan))
    }
    let mcuBlocks = parts.reduce(0) { $0 + $1.blocks }
    guard parts.count == 1 || mcuBlocks <= EntropyBuffer.mostBlocks else {
      throw .damaged(.header, detail: "an MCU of \(mcuBlocks) blocks")
    }
    if isSurvey {
      found.append(
        JPEGRows.FoundScan(
          scan: scan, parts: parts, position: cursor.position, restartInterval: tables.restartInterval))
      coverage?.add(scan, tables: tables.quantisers)
      if !isProgressive, coverage?.isComplete == true { return true }
      guard try cursor.skipCodedData() else { throw .truncated(detail: "in a scan") }
      return decoder.scale != .full && coverage?.isEnough == true
    }
    var scanReader = ScanReader(scan, parts, frame: frame, restartInterval: tables.restartInterval)
    let isWhole = try scanReader.read(
      &cursor, &entropy, isTolerant: decoder.isTolerant, lanes: decoder.lanes, cancellation: decoder.cancellation)
    coverage?.add(scan, tables: tables.quantisers)
    hasPixels = true
    return !isWhole || coverage?.isEnough == true
  }

  /// Copies the cropped part of a scan.
  private mutating func copy(
    _ crop: LosslessCrop, _ header: SegmentBytes, _ scan: JPEGScan, _ indices: [Int]
  ) throws(CodecError) -> [UInt8] {
    guard let frame, frame.process == .sequential, indices == Array(frame.components.indices) else {
      throw .handedOver(reason: "its components are in several scans")
    }
    // Nothing is decoded into them.
    planes = try frame.components.map { component throws(CodecError) in
      try SamplePlane(across: component.across, down: component.down, side: .eight, hasCoefficients: false)
    }
    let parts = try indices.map { index throws(CodecError) in
      try part(index, slots: header[2 + 2 * index] ?? 0, scan: scan)
    }
    let (across, down, isAlone) = (frame.mostAcross, frame.mostDown, indices.count == 1)
    let mcus = crop.mcus(across: isAlone ? 8 : 8 * across, down: isAlone ? 8 : 8 * down)
    let rows = isAlone ? frame.components[0].blocksDown : frame.mcusDown
    guard mcus.rows.upperBound <= rows,
      parts.count == 1 || parts.reduce(0, { $0 + $1.blocks }) <= EntropyBuffer.mostBlocks
    else { throw .handedOver(reason: "a crop beside the image, or odd MCUs") }
    let (length, position) = (decoder.body.count, cursor.position)
    var index =
      knownIndex.flatMap { JPEGRowIndex($0, fileLength: length, scanPosition: position, rows: rows) }
      ?? JPEGRowIndex(fileLength: length, scanPosition: position, rows: rows)
    var reader = ScanReader(scan, parts, frame: frame, restartInterval: tables.restartInterval)
    let data = try reader.copy(
      mcus, most: crop.mostBytes, index: &index, completes: knownIndex != nil, &cursor, &entropy,
      cancellation: decoder.cancellation)
    self.index = index
    return crop.file(header, data: data)
  }

  /// Refuses scans that the standard and libjpeg refuse.
  private func check(_ scan: JPEGScan) throws(CodecError) {
    let isDC = scan.positions.lowerBound == 0
    guard isDC ? scan.positions.upperBound == 0 : scan.components.count == 1,
      scan.previousBit == 0 || scan.previousBit == scan.bit + 1, scan.bit <= 13
    else { throw .damaged(.header, detail: "a scan that no progressive file has") }
  }

  /// The indices of a scan's components in the frame. A component's first scan fixes its quantisers to the current
  /// tables, which may be redefined later.
  private mutating func latchQuantisers(_ scan: JPEGScan) throws(CodecError) -> [Int] {
    var indices: [Int] = []
    for identifier in scan.components {
      guard let index = frame?.components.firstIndex(where: { $0.identifier == identifier }), !indices.contains(index)
      else { throw .damaged(.header, detail: "a scan of unknown components") }
      if let component = frame?.components[index], component.quantisers == nil {
        let quantisers = try tables.quantisers.table(component.tableSlot)
        frame?.components[index].quantisers = quantisers
        scalings[index] = frame.map {
          BlockScaling($0.side(of: component, at: decoder.scale), quantisers: quantisers)
        }
      }
      indices.append(index)
    }
    return indices
  }

  /// A component's part of a scan. `slots` are its table selectors (Td, Ta) from the scan header.
  private mutating func part(_ index: Int, slots: Int, scan: JPEGScan) throws(CodecError) -> ScanReader.Part {
    guard let component = frame?.components[index], let scaling = scalings[index] else {
      throw .damaged(.header, detail: "a scan without a frame header")
    }
    let isProgressive = frame?.process == .progressive
    var dc: HuffmanTable?
    var ac: HuffmanTable?
    if scan.positions.lowerBound == 0 && scan.previousBit == 0 {
      dc = try tables.huffman(slots >> 4, .dc, isProgressive: isProgressive)
    }
    if scan.positions.upperBound > 0 {
      ac = try tables.huffman(slots & 15, .ac, isProgressive: isProgressive)
    }
    // Both are missing if a scan has only the next bits of the DC coefficients, without codes.
    guard let first = dc ?? ac ?? HuffmanTable.empty() else { throw .damaged(.header, detail: "a scan without codes") }
    return ScanReader.Part(
      component: component, scaling: scaling, plane: planes[index], dc: first, ac: ac ?? first)
  }

  private func jpegPlanes(_ frame: JPEGFrame) -> [JPEGPlane] {
    zip(planes, frame.components).map { plane, component in
      JPEGPlane(
        samples: plane, storedSize: frame.size,
        pixelsAcross: 8 / plane.side.rawValue * frame.mostAcross / component.across,
        pixelsDown: 8 / plane.side.rawValue * frame.mostDown / component.down)
    }
  }

  /// The image of the planes.
  private func image() throws(CodecError) -> CoefficientImage {
    guard let frame else { throw .damaged(.header, detail: "no frame header") }
    for (plane, scaling) in zip(planes, scalings) { if let scaling { plane.makeSamples(scaling) } }
    // The cursor is at the marker that ends the last scan, and the marker counts as needed.
    let consumed = min(cursor.position + 2, decoder.body.count)
    return CoefficientImage(
      scale: decoder.scale, size: decoder.scale.size(of: frame.size), planes: jpegPlanes(frame),
      colours: colours.colours(of: frame.components.map { $0.identifier }), profile: profile.profile,
      consumedBytes: consumed, scans: scans)
  }
}
