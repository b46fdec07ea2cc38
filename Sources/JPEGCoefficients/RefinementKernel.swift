/// The loop over the blocks of a scan that refines AC coefficients.
///
/// Such a scan has the next bit of each coefficient that is not 0 so far, and codes for the others that become ±1. Bits
/// and codes are interleaved, so the places of all coefficients that are not 0 must be known: a block's history.
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
    let (lastKept, before, last) = (step.pointee.side.lastPosition, positions.lowerBound - 1, positions.upperBound)
    let new = Int16(truncatingIfNeeded: BlockSamples.doubledAC(1 &<< bit, bit: bit))
    var block = Refined(
      output: step.pointee.output, slots: slots, slotCount: slotCount, lastKept: lastKept,
      half: Int16(truncatingIfNeeded: 1 &<< bit))
    var done = 0
    while done < count && window.next <= limit {
      let old = block.output.loadUnaligned(fromByteOffset: 2 &* slotCount, as: UInt64.self)
      var history = old
      var position = before
      while emptyBlocks == 0 && position < last {
        window.fill()
        let entry = table.entry(window.bits)
        let (total, size, run) = (entry & 0xFF, (entry &>> 8) & 15, Int(truncatingIfNeeded: entry &>> 12))
        if entry == 0 || size > 1 { return -1 }
        if size == 0 && run != 15 {
          window.drop(total)
          emptyBlocks = window.takeRun(run) &+ 1
          break
        }
        let isPositive = (window.bits &<< (total &- 1)) &>> 63 != 0
        window.drop(total)
        // The code counts only zeros, up to the one that becomes ±1.
        var zeros = ~old & Self.mask(after: position, to: last)
        for _ in 0..<run { zeros &= zeros &- 1 }
        if zeros == 0 { return -1 }
        let place = zeros.trailingZeroBitCount
        block.correct(old & Self.mask(after: position, to: place), &window)
        if size == 1 {
          history |= 1 &<< UInt64(truncatingIfNeeded: place)
          let slot = Int(slots[place])
          if slot < slotCount {
            block.output.storeBytes(of: isPositive ? new : -new, toByteOffset: 2 &* slot, as: Int16.self)
          }
        }
        position = place
      }
      if emptyBlocks > 0 {
        block.correct(old & Self.mask(after: position, to: last), &window)
        emptyBlocks &-= 1
      }
      if history != old { block.output.storeBytes(of: history, toByteOffset: 2 &* slotCount, as: UInt64.self) }
      block.output += step.pointee.advance
      done &+= 1
    }
    step.pointee.output = block.output
    return done
  }

  /// The bits of the positions after `position` up to `last`, at most 63.
  @inline(__always)
  private static func mask(after position: Int, to last: Int) -> UInt64 {
    (UInt64.max &>> UInt64(truncatingIfNeeded: 63 &- last))
      & ((UInt64.max &<< UInt64(truncatingIfNeeded: position)) &<< 1)
  }

  /// A block whose coefficients are corrected.
  private struct Refined {
    var output: UnsafeMutableRawPointer
    let slots: UnsafePointer<UInt8>
    let slotCount: Int
    let lastKept: Int
    /// The change of a coefficient's magnitude: the middle of either half of its interval is this far from the middle
    /// of the interval.
    let half: Int16

    /// Reads a bit for each of these positions, in order, and corrects those kept.
    @inline(__always)
    func correct(_ positions: UInt64, _ window: inout BitWindow) {
      if positions == 0 { return }
      let kept = UInt64.max &>> UInt64(truncatingIfNeeded: 63 &- lastKept)
      // The window has at most 56 bits at a time.
      correctKept(positions & kept & 0xFFFF_FFFF, &window)
      correctKept(positions & kept & ~0xFFFF_FFFF, &window)
      let skipped = positions & ~kept
      if skipped != 0 {
        window.fill()
        window.drop(UInt64(truncatingIfNeeded: (skipped & 0xFFFF_FFFF).nonzeroBitCount))
        window.fill()
        window.drop(UInt64(truncatingIfNeeded: (skipped &>> 32).nonzeroBitCount))
      }
    }

    @inline(__always)
    private func correctKept(_ positions: UInt64, _ window: inout BitWindow) {
      var rest = positions
      if rest == 0 { return }
      window.fill()
      repeat {
        let slot = Int(slots[rest.trailingZeroBitCount])
        rest &= rest &- 1
        let isUpper = window.bits &>> 63 != 0
        window.drop(1)
        if slot < slotCount {
          let known = output.loadUnaligned(fromByteOffset: 2 &* slot, as: Int16.self)
          let corrected = known &+ (isUpper == (known > 0) ? half : -half)
          output.storeBytes(of: corrected, toByteOffset: 2 &* slot, as: Int16.self)
        }
      } while rest != 0
    }
  }
}
