/// The inner loops of the coefficient decoder: each decodes MCUs of one kind of scan.
///
/// Safety: they check no bounds. The caller guarantees room for `count` MCUs at each step's `output`, and a `limit` up
/// to which a whole MCU can be decoded (`EntropyBuffer.safeLimit`).
///
/// Each returns the number of MCUs decoded, less than `count` if the window passed `limit`, or −1 for damage. All state
/// is in locals: the dependency from symbol to symbol is a shift, a table load and a shift.
enum BlockKernels {
  typealias Steps = UnsafeMutableBufferPointer<BlockStep>

  /// Decodes the DC coefficient of a block; nil for damage.
  @inline(__always)
  private static func takeDC(_ window: inout BitWindow, _ step: UnsafeMutablePointer<BlockStep>) -> Int? {
    window.fill()
    guard let difference = window.takeDifference(step.pointee.dc) else { return nil }
    let value = step.pointee.predictor.pointee &+ difference
    step.pointee.predictor.pointee = value
    return value
  }

  /// A coefficient truncated to 16 bits, as libjpeg stores it.
  @inline(__always)
  static func coefficient(_ value: Int) -> Int { Int(Int16(truncatingIfNeeded: value)) }

  /// Iterates over the blocks of the MCUs until `block` returns false.
  @inline(__always)
  private static func forEachBlock(
    _ state: inout BitWindow, _ steps: Steps, count: Int, limit: UnsafePointer<UInt8>,
    _ block: (_ window: inout BitWindow, _ step: UnsafeMutablePointer<BlockStep>) -> Bool
  ) -> Int {
    guard let first = steps.baseAddress else { return -1 }
    let end = first + steps.count
    var window = state
    var done = 0
    while done < count && window.next <= limit {
      var step = first
      while step != end {
        guard block(&window, step) else {
          state = window
          return -1
        }
        step.pointee.output += step.pointee.advance
        step += 1
      }
      done &+= 1
    }
    state = window
    return done
  }

  /// Sequential: samples of all blocks.
  static func sequential(
    _ state: inout BitWindow, _ steps: Steps, count: Int, limit: UnsafePointer<UInt8>,
    scratch kept: UnsafeMutablePointer<Float>
  ) -> Int {
    forEachBlock(&state, steps, count: count, limit: limit) { window, step in
      takeBlock(&window, step, kept)
    }
  }

  @inline(__always)
  private static func takeBlock(
    _ window: inout BitWindow, _ step: UnsafeMutablePointer<BlockStep>, _ kept: UnsafeMutablePointer<Float>
  ) -> Bool {
    guard let dc = takeDC(&window, step) else { return false }
    switch step.pointee.side {
    case .one:
      let sample = BlockSamples.eighth(coefficient(dc) &* Int(step.pointee.integers[0]))
      step.pointee.output.storeBytes(of: sample, as: UInt8.self)
      return window.skipCoefficients(step.pointee.ac, after: 0, last: 63, isProgressive: false) == 0
    case .two: return takeQuad(coefficient(dc), &window, step)
    case .four: return takeSquare(coefficient(dc), &window, step, skipsRest: true, into: step.pointee.output)
    case .eight: return takeWhole(coefficient(dc), &window, step, kept, into: step.pointee.output)
    }
  }

  /// The rest of a block after its DC coefficient: 2×2 samples.
  @inline(__always)
  private static func takeQuad(
    _ dc: Int, _ window: inout BitWindow, _ step: UnsafeMutablePointer<BlockStep>
  ) -> Bool {
    var (across, down, both) = (0, 0, 0)
    let damage = window.takeCoefficients(step.pointee.ac, after: 0, lastKept: 4) { position, value in
      across = position == 1 ? value : across
      down = position == 2 ? value : down
      both = position == 4 ? value : both
    }
    guard damage == 0 else { return false }
    let quantisers = step.pointee.integers
    BlockSamples.quarter(
      2 &* dc &* Int(quantisers[0]), 2 &* across &* Int(quantisers[1]), 2 &* down &* Int(quantisers[2]),
      2 &* both &* Int(quantisers[3]), into: step.pointee.output, rowBytes: step.pointee.rowBytes)
    return true
  }

  /// The rest of a block after its DC coefficient: 4×4 samples, the sum of each coefficient's wave.
  @inline(__always)
  static func takeSquare(
    _ dc: Int, _ window: inout BitWindow, _ step: UnsafeMutablePointer<BlockStep>, skipsRest: Bool,
    into output: UnsafeMutableRawPointer
  ) -> Bool {
    let (waves, slots) = (step.pointee.waves, step.pointee.slots)
    let mean = waves[0] * Float(dc)
    var (a, b, c, d) = (mean, mean, mean, mean)
    let damage = window.takeCoefficients(step.pointee.ac, after: 0, lastKept: 24, skipsRest: skipsRest) {
      position, value in
      let wave = waves + 4 &* Int(slots[position & 63])
      let amplitude = SIMD4<Float>(repeating: Float(value))
      a += wave[0] * amplitude
      b += wave[1] * amplitude
      c += wave[2] * amplitude
      d += wave[3] * amplitude
    }
    guard damage == 0 else { return false }
    BlockTransform.store(a, b, c, d, into: output, rowBytes: step.pointee.rowBytes)
    return true
  }

  /// The rest of a block after its DC coefficient: 8×8 samples. `kept` has room for 65 elements.
  @inline(never)
  static func takeWhole(
    _ dc: Int, _ window: inout BitWindow, _ step: UnsafeMutablePointer<BlockStep>, _ kept: UnsafeMutablePointer<Float>,
    into output: UnsafeMutableRawPointer
  ) -> Bool {
    let (factors, slots) = (step.pointee.factors, step.pointee.slots)
    kept.update(repeating: 0, count: 64)
    kept[0] = Float(dc) * factors[0]
    var reached = 0
    let damage = window.takeCoefficients(step.pointee.ac, after: 0, lastKept: 63) { position, value in
      let slot = Int(slots[position & 63])
      kept[slot] = Float(value) * factors[slot]
      reached = position
    }
    guard damage == 0 else { return false }
    if reached == 0 {
      BlockTransform.flat(kept, into: output, rowBytes: step.pointee.rowBytes)
    } else {
      // Up to zigzag position 9 all are among the first 4×4.
      BlockTransform.eight(
        kept, isSparse: reached <= 9, into: output, rowBytes: step.pointee.rowBytes)
    }
    return true
  }

  /// Sequential: passes the codes to `writer`, or skips them without a writer.
  static func copied(
    _ state: inout BitWindow, _ steps: Steps, count: Int, limit: UnsafePointer<UInt8>, to writer: ScanWriter?
  ) -> Int {
    guard let first = steps.first?.predictor else { return -1 }
    guard let writer else {
      return forEachBlock(&state, steps, count: count, limit: limit) { window, step in
        takeDC(&window, step) != nil
          && window.skipCoefficients(step.pointee.ac, after: 0, last: 63, isProgressive: false) == 0
      }
    }
    return forEachBlock(&state, steps, count: count, limit: limit) { window, step in
      guard let dc = takeDC(&window, step) else { return false }
      let start = window
      guard window.skipCoefficients(step.pointee.ac, after: 0, last: 63, isProgressive: false) == 0 else {
        return false
      }
      let length = (window.next - start.next) &* 8 &+ Int(truncatingIfNeeded: start.count &- window.count)
      return writer.add(dc, component: step.pointee.predictor - first, from: start, length: length)
    }
  }

  /// Progressive, first scan of the DC coefficients, exact to `bit`: stores twice their expected values.
  static func progressiveDC(
    _ state: inout BitWindow, _ steps: Steps, count: Int, limit: UnsafePointer<UInt8>, bit: Int
  ) -> Int {
    forEachBlock(&state, steps, count: count, limit: limit) { window, step in
      guard let dc = takeDC(&window, step) else { return false }
      let doubled = BlockSamples.doubledDC(coefficient(dc &<< bit), bit: bit)
      step.pointee.output.storeBytes(of: Int16(truncatingIfNeeded: doubled), as: Int16.self)
      return true
    }
  }

  /// Progressive, a scan that makes the DC coefficients exact to `bit`: the next bit of each.
  static func refinedDC(
    _ state: inout BitWindow, _ steps: Steps, count: Int, limit: UnsafePointer<UInt8>, bit: Int
  ) -> Int {
    // The middle of the upper half of a coefficient's interval is as far above the middle of the interval as the middle
    // of the lower half is below it.
    let half = Int16(truncatingIfNeeded: 1 &<< bit)
    return forEachBlock(&state, steps, count: count, limit: limit) { window, step in
      window.fill()
      let isUpper = window.bits &>> 63 != 0
      window.drop(1)
      let known = step.pointee.output.load(as: Int16.self)
      step.pointee.output.storeBytes(of: known &+ (isUpper ? half : -half), as: Int16.self)
      return true
    }
  }

  /// Progressive, first scan of the AC coefficients at `positions`, exact to `bit`: stores twice the expected values of
  /// the kept coefficients, at most up to `lastKept`, with `hasHistory` marks all that are not 0.
  /// `emptyBlocks` is the number of leading blocks that an end-of-band run leaves empty.
  static func progressiveAC(
    _ state: inout BitWindow, _ steps: Steps, count: Int, limit: UnsafePointer<UInt8>, positions: ClosedRange<Int>,
    bit: Int, lastKept: Int, hasHistory: Bool, emptyBlocks: inout Int
  ) -> Int {
    guard let step = steps.baseAddress else { return -1 }
    let lastTaken = hasHistory ? positions.upperBound : lastKept
    var window = state
    defer { state = window }
    let (table, slots, slotCount) = (step.pointee.ac, step.pointee.slots, step.pointee.side.count)
    // What is not kept may be written to the history, which is written again at the block's end.
    let slotLimit = hasHistory ? 65 : slotCount
    var output = step.pointee.output
    let (before, last) = (positions.lowerBound - 1, positions.upperBound)
    var done = 0
    while done < count && window.next <= limit {
      if emptyBlocks > 0 {
        let passed = min(emptyBlocks, count &- done)
        emptyBlocks &-= passed
        done &+= passed
        output += passed &* step.pointee.advance
        continue
      }
      var found = hasHistory ? output.loadUnaligned(fromByteOffset: 2 &* slotCount, as: UInt64.self) : 0
      emptyBlocks = window.takeCoefficients(
        table, after: before, lastKept: lastTaken, last: last, isProgressive: true
      ) { position, value in
        // A run of 16 zeros ends in one.
        if value == 0 { return }
        found |= 1 &<< UInt64(truncatingIfNeeded: position)
        let slot = Int(slots[position & 63])
        if slot < slotLimit {
          let doubled = BlockSamples.doubledAC(coefficient(value &<< bit), bit: bit)
          output.storeBytes(
            of: Int16(truncatingIfNeeded: doubled), toByteOffset: 2 &* min(slot, slotCount), as: Int16.self)
        }
      }
      if emptyBlocks < 0 { return -1 }
      if hasHistory { output.storeBytes(of: found, toByteOffset: 2 &* slotCount, as: UInt64.self) }
      output += step.pointee.advance
      done &+= 1
    }
    step.pointee.output = output
    return done
  }
}

/// How one block of an MCU is decoded, and where its kept values are written.
///
/// It holds unowned pointers into tables and planes, which must outlive it. The kernels advance `output`.
struct BlockStep {
  /// The DC table, in scans that have DC coefficients.
  var dc: HuffmanTable.Lookup
  /// The AC table, in scans that have AC coefficients.
  var ac: HuffmanTable.Lookup
  /// The component's current DC predictor.
  var predictor: UnsafeMutablePointer<Int>
  var side: BlockSide
  /// `BlockScaling`'s.
  var integers: SIMD4<Int32>
  var factors: UnsafePointer<Float>
  var waves: UnsafePointer<SIMD4<Float>>
  var slots: UnsafePointer<UInt8>
  /// Where the block's samples or coefficients are written.
  var output: UnsafeMutableRawPointer
  /// The distance in bytes to the output of the same block in the next MCU.
  var advance: Int
  /// The bytes per row of samples.
  var rowBytes: Int
}
