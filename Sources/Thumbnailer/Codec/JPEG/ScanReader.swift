/// Decodes one scan into the planes of its components.
///
/// Safety: it owns the steps and predictors that the kernels work on, keeps alive what they point into, and gives them
/// outputs inside the planes: for a scan of several components those of all MCUs, for one of a single component those
/// of its own blocks, which are not more.
struct ScanReader: ~Copyable {
  /// What is kept of a block.
  enum Kind {
    case sequentialEighth, progressiveEighth

    /// The samples of a block in each direction.
    var side: Int {
      switch self {
      case .sequentialEighth, .progressiveEighth: 1
      }
    }
  }

  /// One component's part in the scan.
  struct Part {
    var component: JPEGComponent
    var quantisers: SIMD4<Int32>
    var plane: SamplePlane
    var dc: HuffmanTable?
    var ac: HuffmanTable?
  }

  private let parts: [Part]
  private let kind: Kind
  private let scan: JPEGScan
  private let mcusAcross: Int
  private let mcusDown: Int
  private let steps: UnsafeMutableBufferPointer<BlockStep>
  private let predictors: UnsafeMutableBufferPointer<Int>
  /// For each step its output in the first MCU, and the bytes from there to its output in the next row of MCUs.
  private var origins: [(output: UnsafeMutableRawPointer, rowBytes: Int)] = []

  /// A reader for a scan of these components, which are parts of `frame`.
  ///
  /// - Throws: `.damaged` for an MCU of more than ten blocks.
  init(_ scan: JPEGScan, _ parts: [Part], kind: Kind, frame: JPEGFrame) throws(CodecError) {
    let isAlone = parts.count == 1
    let blocks = isAlone ? 1 : parts.reduce(0) { $0 + $1.component.across * $1.component.down }
    guard blocks <= EntropyBuffer.mostBlocks else { throw .damaged(.header, detail: "\(blocks) blocks in an MCU") }
    (self.parts, self.kind, self.scan) = (parts, kind, scan)
    mcusAcross = isAlone ? parts[0].component.blocksAcross : frame.mcusAcross
    mcusDown = isAlone ? parts[0].component.blocksDown : frame.mcusDown
    predictors = .allocate(capacity: parts.count)
    predictors.initialize(repeating: 0)
    steps = .allocate(capacity: blocks)
    var index = 0
    for (number, part) in parts.enumerated() {
      let (across, down) = isAlone ? (1, 1) : (part.component.across, part.component.down)
      for y in 0..<down {
        for x in 0..<across {
          // The tables that a kind does not use get no pointers that anything reads.
          let dc = part.dc ?? part.ac
          let ac = part.ac ?? part.dc
          guard let dc, let ac, let predictor = predictors.baseAddress else { continue }
          let rowBytes = part.plane.rowBytes
          let output = part.plane.start + y * kind.side * rowBytes + x * kind.side
          steps.initializeElement(
            at: index,
            to: BlockStep(
              dcSingle: dc.single, dcCanonical: dc.canonical, acSingle: ac.single, acPacked: ac.packed,
              acCanonical: ac.canonical, predictor: predictor + number, quantisers: part.quantisers, output: output,
              advance: across * kind.side, rowBytes: rowBytes, bit: scan.bit))
          origins.append((output, down * kind.side * rowBytes))
          index += 1
        }
      }
    }
  }

  deinit {
    steps.deallocate()
    predictors.deallocate()
  }

  /// The blocks of the scan.
  var blockCount: Int { mcusAcross * mcusDown * steps.count }

  /// Decodes the scan; the cursor stands behind its header, and in the end at the marker that follows.
  ///
  /// Returns false when the body ends before, for a tolerant reading. Asks for cancellation once a row.
  func read(
    _ cursor: inout BodyCursor, _ entropy: inout EntropyBuffer, restartInterval: Int, isTolerant: Bool,
    cancellation: CancellationFlag
  ) throws(CodecError) -> Bool {
    var untilRestart = restartInterval
    var restarts: UInt8 = 0
    entropy.clear()
    do throws(CodecError) {
      for row in 0..<mcusDown {
        if cancellation.isSet { throw .cancelled }
        for (index, origin) in origins.enumerated() { steps[index].output = origin.output + row * origin.rowBytes }
        var column = 0
        while column < mcusAcross {
          if restartInterval > 0 && untilRestart == 0 {
            try restart(&cursor, &entropy, expecting: 0xD0 + restarts)
            restarts = (restarts + 1) & 7
            untilRestart = restartInterval
          }
          let wanted = restartInterval > 0 ? min(untilRestart, mcusAcross - column) : mcusAcross - column
          let done = try decode(wanted, &cursor, &entropy)
          column += done
          untilRestart -= done
        }
      }
      try entropy.finish(&cursor)
      if entropy.ending == .end { throw .truncated(detail: "in the coded data") }
    } catch {
      guard isTolerant else { throw error }
      switch error {
      case .truncated: return false
      // libjpeg looks for a place to go on.
      case .damaged: throw .handedOver(reason: "damage in the coded data")
      default: throw error
      }
    }
    return true
  }

  /// Decodes at least one and at most `wanted` MCUs of a row.
  private func decode(
    _ wanted: Int, _ cursor: inout BodyCursor, _ entropy: inout EntropyBuffer
  ) throws(CodecError) -> Int {
    if entropy.window.next > entropy.safeLimit && entropy.ending == .full { try entropy.refill(from: &cursor) }
    // At the very end one by one, to see whether each was there.
    let isLast = entropy.window.next > entropy.safeLimit
    let limit = isLast ? entropy.window.next : entropy.safeLimit
    let done = run(&entropy.window, count: isLast ? 1 : wanted, limit: limit)
    if entropy.hasOverrun || (done < 0 && entropy.isNearItsEnd) {
      if entropy.ending == .end { throw .truncated(detail: "in the coded data") }
      throw .damaged(.decode, detail: "a marker in the coded data")
    }
    if done < 0 { throw .damaged(.decode, detail: "the coded data make no sense") }
    return done
  }

  private func run(_ window: inout BitWindow, count: Int, limit: UnsafePointer<UInt8>) -> Int {
    switch kind {
    case .sequentialEighth: decodeSequentialEighth(&window, steps, count: count, limit: limit)
    case .progressiveEighth: decodeProgressiveEighth(&window, steps, count: count, limit: limit)
    }
  }

  /// Goes behind a restart marker.
  private func restart(
    _ cursor: inout BodyCursor, _ entropy: inout EntropyBuffer, expecting expected: UInt8
  ) throws(CodecError) {
    try entropy.finish(&cursor)
    guard entropy.ending == .marker, let marker = try cursor.takeMarker() else {
      throw .truncated(detail: "in the coded data")
    }
    guard marker == expected else { throw .damaged(.decode, detail: "a restart marker is missing") }
    entropy.clear()
    predictors.update(repeating: 0)
  }
}
