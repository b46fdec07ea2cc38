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
  private static func coefficient(_ value: Int) -> Int { Int(Int16(truncatingIfNeeded: value)) }

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

  /// Sequential, scale 1/8: one sample per block.
  static func sequentialEighth(
    _ state: inout BitWindow, _ steps: Steps, count: Int, limit: UnsafePointer<UInt8>
  ) -> Int {
    forEachBlock(&state, steps, count: count, limit: limit) { window, step in
      guard let dc = takeDC(&window, step) else { return false }
      let sample = BlockSamples.eighth(coefficient(dc) &* Int(step.pointee.quantisers[0]))
      step.pointee.output.storeBytes(of: sample, as: UInt8.self)
      return window.skipCoefficients(step.pointee.ac, after: 0, last: 63, isProgressive: false) == 0
    }
  }

  /// Sequential, scale 1/4: 2×2 samples per block.
  static func sequentialQuarter(
    _ state: inout BitWindow, _ steps: Steps, count: Int, limit: UnsafePointer<UInt8>,
    scratch kept: UnsafeMutablePointer<Int>
  ) -> Int {
    forEachBlock(&state, steps, count: count, limit: limit) { window, step in
      guard let dc = takeDC(&window, step) else { return false }
      (kept[1], kept[2], kept[4]) = (0, 0, 0)
      guard window.takeCoefficients(step.pointee.ac, after: 0, last: 63, isProgressive: false, kept: kept) == 0 else {
        return false
      }
      let quantisers = step.pointee.quantisers
      BlockSamples.quarter(
        2 &* coefficient(dc) &* Int(quantisers[0]), 2 &* kept[1] &* Int(quantisers[1]),
        2 &* kept[2] &* Int(quantisers[2]), 2 &* kept[4] &* Int(quantisers[3]), into: step.pointee.output,
        rowBytes: step.pointee.rowBytes)
      return true
    }
  }

  /// Progressive, first scan of the DC coefficients, exact to `bit`, scale 1/8: one sample per block.
  static func progressiveEighth(
    _ state: inout BitWindow, _ steps: Steps, count: Int, limit: UnsafePointer<UInt8>, bit: Int
  ) -> Int {
    forEachBlock(&state, steps, count: count, limit: limit) { window, step in
      guard let dc = takeDC(&window, step) else { return false }
      let doubled = BlockSamples.doubledDC(Int16(truncatingIfNeeded: dc &<< bit), bit: Int32(truncatingIfNeeded: bit))
      let sample = BlockSamples.eighth((doubled &* Int(step.pointee.quantisers[0])) &>> 1)
      step.pointee.output.storeBytes(of: sample, as: UInt8.self)
      return true
    }
  }

  /// Progressive, first scan of the DC coefficients, exact to `bit`: stores the coefficients.
  static func progressiveDC(
    _ state: inout BitWindow, _ steps: Steps, count: Int, limit: UnsafePointer<UInt8>, bit: Int
  ) -> Int {
    forEachBlock(&state, steps, count: count, limit: limit) { window, step in
      guard let dc = takeDC(&window, step) else { return false }
      step.pointee.output.storeBytes(of: Int16(truncatingIfNeeded: dc &<< bit), as: Int16.self)
      return true
    }
  }

  /// Progressive, first scan of the AC coefficients at `positions`, exact to `bit`: stores those that are kept.
  /// `emptyBlocks` is the number of leading blocks that an end-of-band run leaves empty.
  static func progressiveAC(
    _ state: inout BitWindow, _ steps: Steps, count: Int, limit: UnsafePointer<UInt8>, positions: ClosedRange<Int>,
    bit: Int, emptyBlocks: inout Int, scratch kept: UnsafeMutablePointer<Int>
  ) -> Int {
    guard let step = steps.baseAddress else { return -1 }
    var window = state
    defer { state = window }
    let table = step.pointee.ac
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
      (kept[1], kept[2], kept[4]) = (0, 0, 0)
      emptyBlocks = window.takeCoefficients(table, after: before, last: last, isProgressive: true, kept: kept)
      if emptyBlocks < 0 { return -1 }
      // Coefficients of earlier scans are kept: a first scan adds positions that none of them had.
      let brought = SIMD4<Int16>(
        0, Int16(truncatingIfNeeded: kept[1] &<< bit), Int16(truncatingIfNeeded: kept[2] &<< bit),
        Int16(truncatingIfNeeded: kept[4] &<< bit))
      let present = output.load(as: SIMD4<Int16>.self)
      output.storeBytes(of: present | brought, as: SIMD4<Int16>.self)
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
  /// The quantisers of the kept coefficients: zigzag positions 0, 1, 2 and 4.
  var quantisers: SIMD4<Int32>
  /// Where the block's samples or coefficients are written.
  var output: UnsafeMutableRawPointer
  /// The distance in bytes to the output of the same block in the next MCU.
  var advance: Int
  /// The bytes per row of samples.
  var rowBytes: Int
}
