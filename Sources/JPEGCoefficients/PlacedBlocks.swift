/// Decodes blocks whose beginnings are known, so that none waits for the one before.
///
/// Safety: it checks no bounds. The caller guarantees that `starts` has the beginnings of all blocks of `count` MCUs,
/// that lanes have decoded these, so that all codes are valid, and that each step's output has room for them. A block's
/// last bit is followed by at least 16 bytes.
struct PlacedBlocks {
  let data: UnsafePointer<UInt8>
  let starts: UnsafePointer<UInt32>
  let steps: BlockKernels.Steps
  let count: Int

  /// Writes the samples of one component, whose blocks are those of some steps.
  func decode(_ blocks: Range<Int>) {
    guard let first = steps.baseAddress.map({ $0 + blocks.lowerBound }), !blocks.isEmpty else { return }
    switch first.pointee.side {
    case .one: decodeOne(first, starts + blocks.lowerBound, blocks.count)
    case .two: decodeTwo(first, starts + blocks.lowerBound, blocks.count)
    case .four: decodeFour(first, starts + blocks.lowerBound, blocks.count)
    // `ScanReader.suitsLanes` excludes them.
    case .eight: preconditionFailure("lanes decode no whole blocks")
    }
    for block in 0..<blocks.count { first[block].output += count * first[block].advance }
  }

  /// The difference of a DC coefficient at the top of `bits`, of which 57 are valid, and the bits that it takes.
  @inline(__always)
  private static func difference(_ bits: UInt64, _ dc: HuffmanTable.Lookup) -> (value: Int, length: Int) {
    let quick = Int(Int32(bitPattern: dc.valued[Int(truncatingIfNeeded: bits &>> 53)]))
    if quick != 0 { return (quick &>> 16, quick & 0xFF) }
    var window = BitWindow(bits: bits, count: 57, next: UnsafePointer(bitPattern: 8).unsafelyUnwrapped)
    let value = window.takeDifference(dc) ?? 0
    return (value, Int(truncatingIfNeeded: 57 &- window.count))
  }

  /// Most components have one block in an MCU, which is why the first is apart from the others.
  @inline(never)
  private func decodeOne(
    _ first: UnsafeMutablePointer<BlockStep>, _ starts: UnsafePointer<UInt32>, _ blocks: Int
  ) {
    let (dc, quantiser, advance) = (first.pointee.dc, Int(first.pointee.integers[0]), first.pointee.advance)
    let (output, stride) = (first.pointee.output, steps.count)
    var (predictor, starts, offset) = (first.pointee.predictor.pointee, starts, 0)
    for _ in 0..<count {
      predictor &+= Self.difference(Lanes.window(data, Int(starts[0])), dc).value
      var sample = BlockSamples.eighth(BlockKernels.coefficient(predictor) &* quantiser)
      output.storeBytes(of: sample, toByteOffset: offset, as: UInt8.self)
      var block = 1
      while block < blocks {
        predictor &+= Self.difference(Lanes.window(data, Int(starts[block])), dc).value
        sample = BlockSamples.eighth(BlockKernels.coefficient(predictor) &* quantiser)
        first[block].output.storeBytes(of: sample, toByteOffset: offset, as: UInt8.self)
        block &+= 1
      }
      starts += stride
      offset &+= advance
    }
    first.pointee.predictor.pointee = predictor
  }

  /// Finds the 2×2 coefficients with branches for the usual only: blocks without other coefficients, and others. Four
  /// symbols reach zigzag position 4, if `valued` has them, and what follows the block's end does not count.
  @inline(never)
  private func decodeTwo(
    _ first: UnsafeMutablePointer<BlockStep>, _ starts: UnsafePointer<UInt32>, _ blocks: Int
  ) {
    let (dc, ac, shifts) = (first.pointee.dc, first.pointee.ac, Self.shifts)
    let quantisers = SIMD4<Int>(truncatingIfNeeded: first.pointee.integers) &* 2
    let (q0, q1, q2, q3) = (quantisers[0], quantisers[1], quantisers[2], quantisers[3])
    var (predictor, starts, offset) = (first.pointee.predictor.pointee, starts, 0)
    for _ in 0..<count {
      for block in 0..<blocks {
        let bit = Int(starts[block])
        var bits = Lanes.window(data, bit)
        let (difference, length) = Self.difference(bits, dc)
        predictor &+= difference
        bits &<<= UInt64(truncatingIfNeeded: length)
        // 26 bits are left, and an entry consumes at most 11.
        var entry = ac.valued[Int(truncatingIfNeeded: bits &>> 53)]
        var passed = Int((entry &>> 8) & 0xFF)
        var kept = UInt64(entry &>> 16) &<< UInt64(shifts[passed])
        if passed < 4 {
          bits &<<= UInt64(entry & 0xFF)
          var total = length &+ Int(entry & 0xFF)
          entry = ac.valued[Int(truncatingIfNeeded: bits &>> 53)]
          passed &+= Int((entry &>> 8) & 0xFF)
          kept |= UInt64(entry &>> 16) &<< UInt64(shifts[passed])
          total &+= Int(entry & 0xFF)
          bits = Lanes.window(data, bit &+ total)
          entry = ac.valued[Int(truncatingIfNeeded: bits &>> 53)]
          passed &+= Int((entry &>> 8) & 0xFF)
          kept |= UInt64(entry &>> 16) &<< UInt64(shifts[passed])
          bits &<<= UInt64(entry & 0xFF)
          entry = ac.valued[Int(truncatingIfNeeded: bits &>> 53)]
          passed &+= Int((entry &>> 8) & 0xFF)
          kept |= UInt64(entry &>> 16) &<< UInt64(shifts[passed])
          if passed < 4 { kept = takeQuad(bit &+ length, ac) }
        }
        if kept &<< 16 == 0 {
          BlockSamples.quarter(
            BlockKernels.coefficient(predictor) &* q0, into: first[block].output + offset,
            rowBytes: first.pointee.rowBytes)
          continue
        }
        BlockSamples.quarter(
          BlockKernels.coefficient(predictor) &* q0, Self.coefficient(kept) &* q1,
          Self.coefficient(kept &>> 16) &* q2, Self.coefficient(kept &>> 32) &* q3, into: first[block].output + offset,
          rowBytes: first.pointee.rowBytes)
      }
      starts += steps.count
      offset &+= first.pointee.advance
    }
    first.pointee.predictor.pointee = predictor
  }

  /// For the number of coefficients passed the place in bits of the last of them among those that are kept, of zigzag
  /// positions 1, 2 and 4; 48 for others. Four symbols pass at most 4 · 128. Written once, before it is read.
  private nonisolated(unsafe) static let shifts: UnsafePointer<UInt8> = {
    let shifts = UnsafeMutablePointer<UInt8>.allocate(capacity: 513)
    shifts.initialize(repeating: 48, count: 513)
    (shifts[1], shifts[2], shifts[4]) = (0, 16, 32)
    return UnsafePointer(shifts)
  }()

  @inline(__always)
  private static func coefficient(_ bits: UInt64) -> Int { Int(Int16(truncatingIfNeeded: bits)) }

  /// The coefficients from `bit` on, where those with long codes are among the first.
  @inline(never)
  private func takeQuad(_ bit: Int, _ ac: HuffmanTable.Lookup) -> UInt64 {
    var kept: UInt64 = 0
    var window = BitWindow(data, at: bit)
    _ = window.takeCoefficients(ac, after: 0, lastKept: 4, skipsRest: false) { position, value in
      kept |= UInt64(UInt16(truncatingIfNeeded: value)) &<< UInt64(Self.shifts[position])
    }
    return kept
  }

  @inline(never)
  private func decodeFour(
    _ first: UnsafeMutablePointer<BlockStep>, _ starts: UnsafePointer<UInt32>, _ blocks: Int
  ) {
    let dc = first.pointee.dc
    var (predictor, starts, offset) = (first.pointee.predictor.pointee, starts, 0)
    for _ in 0..<count {
      for block in 0..<blocks {
        var window = BitWindow(data, at: Int(starts[block]))
        predictor &+= window.takeDifference(dc) ?? 0
        _ = BlockKernels.takeSquare(
          BlockKernels.coefficient(predictor), &window, first + block, skipsRest: false,
          into: first[block].output + offset)
      }
      starts += steps.count
      offset &+= first.pointee.advance
    }
    first.pointee.predictor.pointee = predictor
  }
}
