import ThumbnailCore

/// Decodes one scan into the planes of its components.
///
/// Safety: it owns the steps and predictors that the kernels use, keeps the memory that they point into alive, and
/// gives them outputs inside the planes: those of all MCUs for a scan of several components, and those of the
/// component's own blocks, which are not more, for a scan of one.
struct ScanReader: ~Copyable {
  /// How the blocks of a scan are coded.
  private enum Kind {
    case sequential, copied, progressiveDC, refinedDC, progressiveAC, refinedAC

    init(_ scan: JPEGScan, isProgressive: Bool) {
      if !isProgressive {
        self = .sequential
      } else if scan.positions.lowerBound > 0 {
        self = scan.previousBit == 0 ? .progressiveAC : .refinedAC
      } else {
        self = scan.previousBit == 0 ? .progressiveDC : .refinedDC
      }
    }
  }

  /// One component's part in the scan.
  struct Part {
    var component: JPEGComponent
    var scaling: BlockScaling
    var plane: SamplePlane
    /// Both are the same table if the scan needs only one.
    var dc: HuffmanTable
    var ac: HuffmanTable

    /// The component's blocks in an MCU.
    var blocks: Int { component.across * component.down }
  }

  let parts: [Part]
  private var kind: Kind
  /// Receives the codes that are being copied.
  private var writer: ScanWriter?
  let scan: JPEGScan
  let frame: JPEGFrame
  let mcusAcross: Int
  private let mcusDown: Int
  let steps: UnsafeMutableBufferPointer<BlockStep>
  let predictors: UnsafeMutablePointer<Int>
  let scratch: UnsafeMutablePointer<Float>
  /// In a progressive scan of AC coefficients, the number of following blocks that an end-of-band run covers.
  private var emptyBlocks = 0
  /// Whether at least one complete MCU was decoded.
  var hasDecoded = false
  /// The MCUs between two restart markers, 0 without markers; the MCUs before the next marker; and its number.
  let restartInterval: Int
  var untilRestart: Int
  var restarts: UInt8 = 0
  /// The MCUs of the scan that are not decoded.
  var mcusLeft: Int
  /// Where the next blocks begin, if lanes decode the scan.
  var blockStarts: BlockStarts?
  /// For each step its output in the first MCU, and the distance in bytes to its output in the next row of MCUs.
  private var origins: [Origin] = []

  private struct Origin {
    var output: UnsafeMutableRawPointer
    var rowBytes: Int
  }

  /// A reader for a scan of these components, which are parts of `frame`: at least one, and together at most ten blocks
  /// per MCU.
  init(_ scan: JPEGScan, _ parts: [Part], frame: JPEGFrame, restartInterval: Int) {
    let isAlone = parts.count == 1
    let blocks = isAlone ? 1 : parts.reduce(0) { $0 + $1.blocks }
    precondition(!parts.isEmpty && blocks <= EntropyBuffer.mostBlocks, "the padding is for so many blocks")
    (self.parts, self.scan, self.frame) = (parts, scan, frame)
    (self.restartInterval, untilRestart) = (restartInterval, restartInterval)
    kind = Kind(scan, isProgressive: frame.process == .progressive)
    mcusAcross = isAlone ? parts[0].component.blocksAcross : frame.mcusAcross
    mcusDown = isAlone ? parts[0].component.blocksDown : frame.mcusDown
    mcusLeft = mcusAcross * mcusDown
    predictors = .allocate(capacity: parts.count)
    predictors.initialize(repeating: 0, count: parts.count)
    steps = .allocate(capacity: blocks)
    scratch = .allocate(capacity: 65)
    scratch.initialize(repeating: 0, count: 65)
    for (number, part) in parts.enumerated() {
      let (across, down) = isAlone ? (1, 1) : (part.component.across, part.component.down)
      let plane = part.plane
      for y in 0..<down {
        for x in 0..<across {
          let output = plane.start + y * plane.blockRowBytes + x * plane.blockBytes
          steps.initializeElement(
            at: origins.count,
            to: BlockStep(
              dc: part.dc.lookup, ac: part.ac.lookup, predictor: predictors + number, side: part.scaling.side,
              integers: part.scaling.integers, factors: part.scaling.factors, waves: part.scaling.waves,
              slots: part.scaling.slots, output: output,
              advance: across * plane.blockBytes, rowBytes: plane.rowBytes))
          origins.append(Origin(output: output, rowBytes: down * plane.blockRowBytes))
        }
      }
    }
  }

  deinit {
    steps.deallocate()
    predictors.deallocate()
    scratch.deallocate()
  }

  /// Decodes the scan, from the cursor's position after the header to the marker that follows the scan.
  ///
  /// Returns false if the body ends first and a tolerant reading has decoded something. Checks for cancellation once
  /// per row. Without `lanes` the blocks are decoded one after the other, which makes the same samples.
  mutating func read(
    _ cursor: inout BodyCursor, _ entropy: inout EntropyBuffer, isTolerant: Bool, lanes: LaneSchedule.Sizes?,
    cancellation: CancellationFlag
  ) throws(CodecError) -> Bool {
    entropy.clear()
    let suitsLanes = suitsLanes && cursor.remaining >= lanes?.leastScan ?? .max
    blockStarts = suitsLanes ? lanes.map { BlockStarts(laneTables, $0) } : nil
    do throws(CodecError) {
      for row in 0..<mcusDown {
        if cancellation.isSet { throw .cancelled }
        try readRow(at: row, &cursor, &entropy)
      }
      // All blocks were decoded, whether or not a marker follows.
      try entropy.finish(&cursor)
    } catch {
      guard isTolerant else { throw error }
      switch error {
      case .truncated where hasDecoded: return false
      // libjpeg can resynchronise after damage.
      case .damaged: throw .handedOver(reason: "damage in the coded data")
      default: throw error
      }
    }
    return true
  }

  /// Decodes the scan's part of one row of the frame's MCUs, from the end of the part before, into planes that hold one
  /// row. `row` is the row's number.
  mutating func readMCUs(
    inRow row: Int, _ cursor: inout BodyCursor, _ entropy: inout EntropyBuffer
  ) throws(CodecError) {
    // A component alone has its own blocks in MCUs of one.
    let count = parts.count == 1 ? parts[0].component.down : 1
    for place in 0..<max(0, min(count, mcusDown - row * count)) { try readRow(at: place, &cursor, &entropy) }
  }

  /// Copies the coded data of some MCUs of a sequential file, from the cursor's position after the scan's header.
  ///
  /// Rows before them are skipped, as far as `index` has no entry. With `completes`, an index without entries is
  /// completed by skipping through all other rows, up to the first damage.
  mutating func copy(
    _ mcus: (columns: Range<Int>, rows: Range<Int>), most: Int, index: inout JPEGRowIndex, completes: Bool,
    _ cursor: inout BodyCursor, _ entropy: inout EntropyBuffer, cancellation: CancellationFlag
  ) throws(CodecError) -> [UInt8] {
    (kind, entropy.isTracked) = (.copied, completes)
    entropy.clear()
    let completes = completes && index.entries.isEmpty
    let copier = ScanWriter(most: most)
    var row = index.lastRow(upTo: mcus.rows.lowerBound)
    if row > 0, try !resume(at: row, &index, &cursor, &entropy) { row = 0 }
    while row < mcus.rows.upperBound {
      if cancellation.isSet { throw .cancelled }
      try note(row, in: &index, &cursor, entropy)
      let columns = mcus.rows.contains(row) ? mcus.columns : mcusAcross..<mcusAcross
      try readMCUs(columns.lowerBound, &cursor, &entropy)
      writer = copier
      try readMCUs(columns.count, &cursor, &entropy)
      writer = nil
      if copier.isTooLong { throw .handedOver(reason: "a part of more than \(most) bytes") }
      row += 1
      if row == mcus.rows.upperBound { break }
      if try resume(at: row, &index, &cursor, &entropy) { continue }
      try readMCUs(mcusAcross - columns.upperBound, &cursor, &entropy)
    }
    copier.finish()
    if completes {
      do throws(CodecError) {
        try readMCUs(mcusAcross - mcus.columns.upperBound, &cursor, &entropy)
        for row in row..<mcusDown {
          if cancellation.isSet { throw .cancelled }
          try note(row, in: &index, &cursor, entropy)
          try readMCUs(mcusAcross, &cursor, &entropy)
        }
      } catch {
        switch error {
        case .truncated, .damaged: break
        default: throw error
        }
      }
    }
    return copier.bytes
  }

  /// Adds the current position, at the beginning of a row, to an index.
  private func note(
    _ row: Int, in index: inout JPEGRowIndex, _ cursor: inout BodyCursor, _ entropy: borrowing EntropyBuffer
  ) throws(CodecError) {
    guard index.lacks(row), !cursor.hasPassedFill, let place = entropy.bodyPosition else { return }
    let values = (0..<parts.count).map { predictors[$0] }
    guard values.allSatisfy({ Int(Int16(truncatingIfNeeded: $0)) == $0 }) else { return }
    index.append(
      JPEGRowIndex.Entry(
        position: place.offset, bit: place.bit, predictors: values,
        checksum: try Self.checksum(at: place.offset, cursor)))
  }

  /// Moves to the beginning of a row that has a correct entry. A wrong index is emptied.
  private mutating func resume(
    at row: Int, _ index: inout JPEGRowIndex, _ cursor: inout BodyCursor, _ entropy: inout EntropyBuffer
  ) throws(CodecError) -> Bool {
    guard let entry = index.entry(of: row) else { return false }
    guard try Self.checksum(at: entry.position, cursor) == entry.checksum else {
      index.removeAll()
      return false
    }
    try entropy.move(to: entry.position, bit: entry.bit, &cursor)
    for number in 0..<parts.count { predictors[number] = entry.predictors[number] }
    guard restartInterval > 0 else { return true }
    let (passed, rest) = (row * mcusAcross).quotientAndRemainder(dividingBy: restartInterval)
    // A marker between two rows is still to be read.
    untilRestart = rest == 0 ? 0 : restartInterval - rest
    restarts = UInt8(truncatingIfNeeded: rest == 0 ? passed - 1 : passed) & 7
    return true
  }

  /// The bytes of the file that an entry is compared with.
  private static func checksum(at offset: Int, _ cursor: borrowing BodyCursor) throws(CodecError) -> UInt32 {
    JPEGRowIndex.checksum(try cursor.peek(at: offset, length: 32))
  }

  /// Decodes the next row of MCUs, which is the planes' row `row`.
  private mutating func readRow(
    at row: Int, _ cursor: inout BodyCursor, _ entropy: inout EntropyBuffer
  ) throws(CodecError) {
    for (index, origin) in origins.enumerated() {
      steps[index].output = origin.output + row * origin.rowBytes
    }
    try readMCUs(mcusAcross, &cursor, &entropy)
  }

  /// Decodes the next MCUs, of one row.
  private mutating func readMCUs(
    _ count: Int, _ cursor: inout BodyCursor, _ entropy: inout EntropyBuffer
  ) throws(CodecError) {
    var column = 0
    while column < count {
      if restartInterval > 0 && untilRestart == 0 {
        try restart(&cursor, &entropy, expecting: 0xD0 + restarts)
        restarts = (restarts + 1) & 7
        untilRestart = restartInterval
      }
      let wanted = restartInterval > 0 ? min(untilRestart, count - column) : count - column
      let done = try decode(wanted, &cursor, &entropy)
      column += done
      untilRestart -= done
      mcusLeft -= done
    }
  }

  /// Whether the kernels of known blocks make what is wanted, and most of each block is skipped.
  private var suitsLanes: Bool {
    kind == .sequential && !parts.contains { $0.scaling.side == .eight }
      && parts.contains { $0.scaling.side <= .two }
  }

  private var laneTables: LaneTables {
    LaneTables(
      parts.flatMap { part in
        Array(repeating: LaneTables.Block(dc: part.dc, ac: part.ac), count: parts.count == 1 ? 1 : part.blocks)
      })
  }

  /// Loads more data, of the following restart intervals, too, if lanes decode them.
  private mutating func refill(_ cursor: inout BodyCursor, _ entropy: inout EntropyBuffer) throws(CodecError) {
    guard blockStarts != nil else { return try entropy.refill(from: &cursor) }
    let intervals = restartInterval > 0 ? (mcusLeft - untilRestart + restartInterval - 1) / restartInterval : 0
    try entropy.refill(from: &cursor, intervals: min(intervals, BlockStarts.mostIntervals), number: restarts)
    blockStarts?.bufferLoaded()
  }

  /// Decodes at most `wanted` MCUs whose blocks' beginnings are known. Nil if none is.
  private mutating func decodeKnown(_ wanted: Int, _ entropy: inout EntropyBuffer) -> Int? {
    guard let (starts, known) = blockStarts?.known(from: entropy.bitPosition) else { return nil }
    var count = min(wanted, known)
    // Behind the interval's end a lane has decoded what is not there.
    while count > 0, Int(starts[count * steps.count]) > entropy.endOfInterval { count -= 1 }
    if count == 0 { return nil }
    let blocks = PlacedBlocks(data: entropy.data, starts: starts, steps: steps, count: count)
    var first = 0
    for part in parts {
      let end = first + (parts.count == 1 ? 1 : part.blocks)
      blocks.decode(first..<end)
      first = end
    }
    entropy.move(to: Int(starts[count * steps.count]))
    blockStarts?.take(mcus: count)
    hasDecoded = true
    return count
  }

  /// Decodes at least one and at most `wanted` MCUs of a row.
  private mutating func decode(
    _ wanted: Int, _ cursor: inout BodyCursor, _ entropy: inout EntropyBuffer
  ) throws(CodecError) -> Int {
    if let done = decodeKnown(wanted, &entropy) { return done }
    if entropy.window.next > entropy.safeLimit && entropy.ending == .full { try refill(&cursor, &entropy) }
    if blockStarts?.hasLists == false, blockStarts?.schedule.isOn == true {
      if entropy.ending == .full, entropy.isHalfDecoded { try refill(&cursor, &entropy) }
      blockStarts?.find(in: entropy)
      if let done = decodeKnown(wanted, &entropy) { return done }
    }
    // One at a time, to see where a list begins to have the blocks.
    let wanted = blockStarts?.hasLists == true ? 1 : wanted
    // At the very end one MCU at a time, to check whether each was complete.
    let isLast = entropy.window.next > entropy.safeLimit
    let limit = isLast ? entropy.window.next : entropy.safeLimit
    // Empty blocks of an end-of-band run take no bits.
    let empty = kind == .progressiveAC ? emptyBlocks : 0
    let done = run(&entropy.window, count: isLast ? max(1, min(empty, wanted)) : wanted, limit: limit)
    // Before the last MCUs the buffer always holds the bytes of a whole one.
    if !isLast || (done > 0 && !entropy.hasOverrun) { hasDecoded = true }
    if entropy.hasOverrun || (done < 0 && entropy.isNearItsEnd) {
      if entropy.ending == .end { throw .truncated(detail: "in the coded data") }
      throw .damaged(.decode, detail: "a marker in the coded data")
    }
    if done < 0 { throw .damaged(.decode, detail: "the coded data make no sense") }
    return done
  }

  private mutating func run(_ window: inout BitWindow, count: Int, limit: UnsafePointer<UInt8>) -> Int {
    switch kind {
    case .copied: BlockKernels.copied(&window, steps, count: count, limit: limit, to: writer)
    case .sequential: BlockKernels.sequential(&window, steps, count: count, limit: limit, scratch: scratch)
    case .progressiveDC: BlockKernels.progressiveDC(&window, steps, count: count, limit: limit, bit: scan.bit)
    case .refinedDC: BlockKernels.refinedDC(&window, steps, count: count, limit: limit, bit: scan.bit)
    case .progressiveAC:
      BlockKernels.progressiveAC(
        &window, steps, count: count, limit: limit, positions: scan.positions, bit: scan.bit,
        lastKept: min(parts[0].scaling.side.lastPosition, scan.positions.upperBound),
        hasHistory: parts[0].plane.hasHistory, emptyBlocks: &emptyBlocks)
    case .refinedAC:
      BlockKernels.refinedAC(
        &window, steps, count: count, limit: limit, positions: scan.positions, bit: scan.bit, emptyBlocks: &emptyBlocks)
    }
  }

  /// Skips a restart marker.
  private mutating func restart(
    _ cursor: inout BodyCursor, _ entropy: inout EntropyBuffer, expecting expected: UInt8
  ) throws(CodecError) {
    if !entropy.beginInterval() {
      try entropy.finish(&cursor)
      guard entropy.ending == .marker, let marker = try cursor.takeMarker() else {
        throw .truncated(detail: "in the coded data")
      }
      guard marker == expected else { throw .damaged(.decode, detail: "a restart marker is missing") }
      entropy.clear()
      blockStarts?.clear()
    }
    predictors.update(repeating: 0, count: parts.count)
    emptyBlocks = 0
  }
}
