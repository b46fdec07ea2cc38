// The inner loops of the coefficient reader.
//
// Safety: they read untrusted bytes without checks of their own, and stay in bounds because
// - indices into the Huffman tables are the top 9, 13 or 16 bits of a word, or masked;
// - whoever calls has made sure that `window` may go on by `EntropyBuffer.longestBlock` bytes for each block (see
//   `EntropyBuffer.safeLimit`): a block drops at most 31 bits for each of 64 coefficients, as a run that passes the last
//   coefficient ends the kernel;
// - whoever calls has made sure of `count` MCUs at each step's `output`.
//
// Each returns the number of MCUs decoded, or -1 when a code is not one of the table's, or a run passes the end of the
// block. All state is in locals: what a loop carries from symbol to symbol is a shift, a table's load and a shift.

/// A rounded sample from eight times its distance to mid-grey, as libjpeg clamps it: of the tenth bit it makes a sign.
@inline(__always)
func clampedSample(_ eightfold: Int) -> UInt8 {
  let level = ((eightfold &+ 4) &<< 51) &>> 54
  return UInt8(truncatingIfNeeded: max(0, min(255, level &+ 128)))
}

/// The value of `size` bits at the top of `bits`, in which a leading 0 means a negative number.
@inline(__always)
func signedValue(_ bits: UInt64, _ size: UInt64) -> Int {
  // Two shifts, since there may be no bits at all.
  let value = Int(truncatingIfNeeded: (bits &>> 1) &>> (63 &- size))
  let isPositive = Int(truncatingIfNeeded: bits) &>> 63
  return value &- (~isPositive & ((1 &<< Int(truncatingIfNeeded: size)) &- 1))
}

/// Decodes the difference of a DC coefficient; nil for a code that is none. Drops at most 31 bits.
@inline(__always)
private func difference(
  _ window: inout BitWindow, _ single: UnsafePointer<UInt16>, _ canonical: UnsafePointer<UInt32>
) -> Int? {
  var entry = UInt64(single[Int(truncatingIfNeeded: window.bits &>> 55)])
  if entry == 0 {
    let code = UInt64(truncatingIfNeeded: HuffmanTable.decode(window.bits, canonical))
    if code == 0 { return nil }
    entry = (code &>> 8) &+ (code & 15) | (code & 15) &<< 8
  }
  let size = entry &>> 8
  let total = entry & 0xFF
  let value = signedValue(window.bits &<< (total &- size), size)
  window.drop(total)
  return value
}

/// Skips the coefficients after position `position` up to `last`, or to the end of the block.
///
/// Returns the number of blocks that end with this one as a run has it, 0 without, or -1 for damage.
@inline(__always)
private func skipCoefficients(
  _ window: inout BitWindow, _ packed: UnsafePointer<UInt16>, _ canonical: UnsafePointer<UInt32>,
  after position: Int, last: Int, isProgressive: Bool
) -> Int {
  var position = position
  while true {
    window.fill()
    var entry = UInt64(packed[Int(truncatingIfNeeded: window.bits &>> 51)])
    var reached = position &+ Int(truncatingIfNeeded: entry &>> 8)
    if reached < last {
      window.drop(entry & 0x1F)
      position = reached
      // 28 bits are left, and no entry takes more.
      entry = UInt64(packed[Int(truncatingIfNeeded: window.bits &>> 51)])
      reached = position &+ Int(truncatingIfNeeded: entry &>> 8)
      if reached < last {
        window.drop(entry & 0x1F)
        position = reached
        continue
      }
    }
    // The last coefficient is there, or the block has ended before it.
    if reached == last || UInt(bitPattern: reached &- HuffmanTable.endOfBlock) < UInt(bitPattern: last) {
      window.drop(entry & 0x1F)
      return 0
    }
    // A long code, or symbols beyond the end of the block: one at a time.
    window.fill()
    let code = HuffmanTable.decode(window.bits, canonical)
    if code == 0 { return -1 }
    let size = UInt64(truncatingIfNeeded: code & 15)
    let run = (code &>> 4) & 15
    let length = UInt64(truncatingIfNeeded: code &>> 8)
    if size == 0 && run != 15 {
      if !isProgressive || run == 0 {
        window.drop(length)
        return 0
      }
      window.drop(length)
      let more = Int(truncatingIfNeeded: window.bits &>> (64 &- UInt64(truncatingIfNeeded: run)))
      window.drop(UInt64(truncatingIfNeeded: run))
      return (1 &<< run) &+ more &- 1
    }
    window.drop(length &+ size)
    position &+= run &+ 1
    if position >= last { return position == last ? 0 : -1 }
  }
}

/// Sequential, 1/8: one sample for each block.
func decodeSequentialEighth(
  _ state: inout BitWindow, _ steps: UnsafeMutableBufferPointer<BlockStep>, count: Int, limit: UnsafePointer<UInt8>
) -> Int {
  var window = state
  var done = 0
  while done < count && window.next <= limit {
    for index in 0..<steps.count {
      // Within the buffer, by the loop.
      let step = steps.baseAddress.unsafelyUnwrapped + index
      window.fill()
      guard let difference = difference(&window, step.pointee.dcSingle, step.pointee.dcCanonical) else {
        state = window
        return -1
      }
      let value = step.pointee.predictor.pointee &+ difference
      step.pointee.predictor.pointee = value
      let output = step.pointee.output
      let coefficient = Int(Int16(truncatingIfNeeded: value)) &* Int(step.pointee.quantisers[0])
      output.storeBytes(of: clampedSample(coefficient), as: UInt8.self)
      step.pointee.output = output + step.pointee.advance
      let skipped = skipCoefficients(
        &window, step.pointee.acPacked, step.pointee.acCanonical, after: 0, last: 63, isProgressive: false)
      if skipped < 0 {
        state = window
        return -1
      }
    }
    done &+= 1
  }
  state = window
  return done
}

/// Progressive, the first scan of DC coefficients, 1/8: one sample for each block.
func decodeProgressiveEighth(
  _ state: inout BitWindow, _ steps: UnsafeMutableBufferPointer<BlockStep>, count: Int, limit: UnsafePointer<UInt8>
) -> Int {
  var window = state
  var done = 0
  while done < count && window.next <= limit {
    for index in 0..<steps.count {
      let step = steps.baseAddress.unsafelyUnwrapped + index
      window.fill()
      guard let difference = difference(&window, step.pointee.dcSingle, step.pointee.dcCanonical) else {
        state = window
        return -1
      }
      let value = step.pointee.predictor.pointee &+ difference
      step.pointee.predictor.pointee = value
      let output = step.pointee.output
      // Half of what later scans may add at most, so that the picture gets no darker.
      let doubled = (1 &<< step.pointee.bit) &- 1
      let coefficient = Int(Int16(truncatingIfNeeded: value &<< step.pointee.bit))
      let sample = clampedSample(((coefficient &* 2 &+ doubled) &* Int(step.pointee.quantisers[0])) &>> 1)
      output.storeBytes(of: sample, as: UInt8.self)
      step.pointee.output = output + step.pointee.advance
    }
    done &+= 1
  }
  state = window
  return done
}
