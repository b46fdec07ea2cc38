/// The loop over the blocks of a scan that refines AC coefficients.
///
/// Such a scan has the next bit of each coefficient that is not 0 so far, and codes for the others that become ±1. Bits
/// and codes are interleaved, so the places of all coefficients that are not 0 must be known: a block's history. A
/// block's codes are read first; its bits are collected meanwhile, and applied to the coefficients at the end.
extension BlockKernels {
  /// Progressive, a scan that makes the AC coefficients at `positions` exact to `bit`: updates the kept ones, as twice
  /// their expected values, and the histories. `emptyBlocks` is the number of leading blocks in which none becomes ±1.
  static func refinedAC(
    _ state: inout BitWindow, _ steps: Steps, count: Int, limit: UnsafePointer<UInt8>, positions: ClosedRange<Int>,
    bit: Int, emptyBlocks: inout Int
  ) -> Int {
    guard let step = steps.baseAddress else { return -1 }
    var window = state
    defer { state = window }
    let (table, slots, slotCount) = (step.pointee.ac, step.pointee.slots, step.pointee.side.count)
    let (before, last, advance) = (positions.lowerBound - 1, positions.upperBound, step.pointee.advance)
    let band = mask(after: before) & (UInt64.max &>> UInt64(truncatingIfNeeded: 63 &- last))
    let kept = UInt64.max &>> UInt64(truncatingIfNeeded: 63 &- step.pointee.side.lastPosition)
    // The middle of either half of a coefficient's interval is this far from the middle of the interval.
    let half = 1 &<< bit
    let nearZeros = nearZeros
    let new = BlockSamples.doubledAC(1 &<< bit, bit: bit)
    var output = step.pointee.output
    defer { step.pointee.output = output }
    var done = 0
    while done < count && window.next <= limit {
      let old = output.loadUnaligned(fromByteOffset: 2 &* slotCount, as: UInt64.self)
      let known = old & band
      var corrections = Corrections()
      if emptyBlocks == 0 {
        var (added, position) = (UInt64(0), before)
        while position < last {
          window.fill()
          let entry = table.entry(window.bits)
          let (total, size, run) = (entry & 0xFF, (entry &>> 8) & 15, Int(truncatingIfNeeded: entry &>> 12))
          if entry == 0 || size > 1 { return -1 }
          if size == 0 && run != 15 {
            window.drop(total)
            emptyBlocks = window.takeRun(run) &+ 1
            break
          }
          let isPositive = Int(truncatingIfNeeded: (window.bits &<< (total &- 1)) &>> 63)
          window.drop(total)
          // The code counts only zeros, up to the one that becomes ±1.
          let zeros = (~old & band) &>> UInt64(truncatingIfNeeded: position &+ 1)
          var passed = run < 8 ? Int(nearZeros[Int(truncatingIfNeeded: zeros & 0xFF) &<< 3 | run]) : 8
          if passed == 8 {
            passed = distantZero(zeros, run)
            if passed == 64 { return -1 }
          }
          let place = position &+ 1 &+ passed
          corrections.take(passed &- run, &window)
          if size == 1 {
            added |= 1 &<< UInt64(truncatingIfNeeded: place)
            // What is not kept is written to the history, which is written again at the end.
            let slot = min(Int(slots[place]), slotCount)
            let value = (new ^ (isPositive &- 1)) &- (isPositive &- 1)
            output.storeBytes(of: Int16(truncatingIfNeeded: value), toByteOffset: 2 &* slot, as: Int16.self)
          }
          position = place
        }
        if added != 0 { output.storeBytes(of: old | added, toByteOffset: 2 &* slotCount, as: UInt64.self) }
      }
      if emptyBlocks > 0 {
        emptyBlocks &-= 1
        if known != 0 {
          window.fill()
          corrections.take(known.nonzeroBitCount &- corrections.count, &window)
        }
      }
      if known != 0 {
        var (rest, bits) = (known & kept, corrections.bits &<< UInt64(truncatingIfNeeded: 64 &- corrections.count))
        while rest != 0 {
          let slot = Int(slots[rest.trailingZeroBitCount])
          rest &= rest &- 1
          if slot < slotCount {
            let value = Int(output.loadUnaligned(fromByteOffset: 2 &* slot, as: Int16.self))
            // −1 where the value becomes less, else 0.
            let sign = ((value &- 1) ^ ~Int(truncatingIfNeeded: bits)) &>> 63
            output.storeBytes(
              of: Int16(truncatingIfNeeded: value &+ (half ^ sign) &- sign), toByteOffset: 2 &* slot, as: Int16.self)
          }
          bits &<<= 1
        }
      }
      output += advance
      done &+= 1
    }
    return done
  }

  /// For each eight bits and each number of bits up to 7: the index of the set bit after so many others, 8 if there is
  /// none. Written once, before it is read.
  private nonisolated(unsafe) static let nearZeros: UnsafePointer<UInt8> = {
    let table = UnsafeMutablePointer<UInt8>.allocate(capacity: 256 * 8)
    for index in 0..<256 * 8 { table[index] = UInt8(min(8, distantZero(UInt64(index >> 3), index & 7))) }
    return UnsafePointer(table)
  }()

  /// The index of the set bit after `number` others; 64 if there is none.
  @inline(never)
  private static func distantZero(_ bits: UInt64, _ number: Int) -> Int {
    var bits = bits
    for _ in 0..<number { bits &= bits &- 1 }
    return bits.trailingZeroBitCount
  }

  /// The bits of the positions after `position`, at most 63.
  @inline(__always)
  private static func mask(after position: Int) -> UInt64 {
    (UInt64.max &<< UInt64(truncatingIfNeeded: position)) &<< 1
  }

  /// The correction bits of a block's coefficients, in order.
  private struct Corrections {
    var bits: UInt64 = 0
    var count = 0

    /// Reads `number` bits, at most 63.
    @inline(__always)
    mutating func take(_ number: Int, _ window: inout BitWindow) {
      // 39 valid bits are left after a code.
      if number > 32 {
        takeFew(32, &window)
        window.fill()
        takeFew(number &- 32, &window)
      } else {
        takeFew(number, &window)
      }
    }

    @inline(__always)
    private mutating func takeFew(_ number: Int, _ window: inout BitWindow) {
      let number = UInt64(truncatingIfNeeded: number)
      bits = bits &<< number | (window.bits &>> 1) &>> (63 &- number)
      window.drop(number)
      count &+= Int(truncatingIfNeeded: number)
    }
  }
}
