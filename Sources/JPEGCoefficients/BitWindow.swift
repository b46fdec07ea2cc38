/// The next bits of coded data, the first at the top.
///
/// Bits below the `count` valid ones are zero or what the stream has there, so that filling again does no harm.
///
/// Safety: it reads from `next` on without asking whether there is anything, and its methods that decode do so without
/// checks of their own. `EntropyBuffer.safeLimit` says from where a whole MCU can be decoded: a block drops at most 31
/// bits for each of 64 coefficients, since what passes the last coefficient ends it. Indices into Huffman tables are the
/// top 9, 13 or 16 bits of a word, or masked.
struct BitWindow {
  var bits: UInt64 = 0
  var count: UInt64 = 0
  /// The next byte to take in.
  var next: UnsafePointer<UInt8>

  /// Brings the valid bits to 56 at least. Reads 8 bytes from `next` and goes on by at most 7.
  @inline(__always)
  mutating func fill() {
    let bytes = UInt64(bigEndian: UnsafeRawPointer(next).loadUnaligned(as: UInt64.self))
    bits |= bytes &>> count
    next += Int(truncatingIfNeeded: (63 &- count) &>> 3)
    count |= 56
  }

  /// Drops bits: fewer than 64, and not more than are valid.
  @inline(__always)
  mutating func drop(_ dropped: UInt64) {
    bits = bits &<< dropped
    count = count &- dropped
  }

  /// The value of the `size` bits at the top of `bits`, in which a leading 0 means a negative number.
  @inline(__always)
  private static func value(_ bits: UInt64, _ size: UInt64) -> Int {
    // Two shifts, since there may be no bits at all.
    let value = Int(truncatingIfNeeded: (bits &>> 1) &>> (63 &- size))
    let isPositive = Int(truncatingIfNeeded: bits) &>> 63
    return value &- (~isPositive & ((1 &<< Int(truncatingIfNeeded: size)) &- 1))
  }

  /// Takes the difference of a DC coefficient; nil for a code that is none. 31 bits must be valid, and are dropped at
  /// most.
  @inline(__always)
  mutating func takeDifference(_ table: HuffmanTable.Lookup) -> Int? {
    let entry = table.entry(bits)
    if entry == 0 { return nil }
    // A symbol of a DC table is a size.
    let (total, size) = (entry & 0xFF, entry &>> 8)
    let value = Self.value(bits &<< (total &- size), size)
    drop(total)
    return value
  }

  /// What came of the rest of a block: so many further blocks have nothing in them (0 but in progressive scans), or −1
  /// for damage.
  typealias EmptyBlocks = Int

  /// Takes the coefficients of the zigzag positions after `position` up to `last`, and keeps those up to 4 in `kept`,
  /// which has room for 32; others there are changed.
  @inline(__always)
  mutating func takeCoefficients(
    _ table: HuffmanTable.Lookup, after position: Int, last: Int, isProgressive: Bool,
    kept: UnsafeMutablePointer<Int>
  ) -> EmptyBlocks {
    var position = position
    let lastKept = min(JPEGScale.quarter.lastPosition, last)
    while position < lastKept {
      fill()
      let entry = table.entry(bits)
      let (total, size, run) = (entry & 0xFF, (entry &>> 8) & 15, Int(truncatingIfNeeded: entry &>> 12))
      if size == 0 && run != 15 {
        if entry == 0 { return -1 }
        drop(total)
        return isProgressive ? takeRun(run) : 0
      }
      position &+= run &+ 1
      // At most 3 + 16.
      kept[position & 31] = Self.value(bits &<< (total &- size), size)
      drop(total)
    }
    if position >= last { return position == last ? 0 : -1 }
    return skipCoefficients(table, after: position, last: last, isProgressive: isProgressive)
  }

  /// Skips the coefficients of the zigzag positions after `position` up to `last`.
  @inline(__always)
  mutating func skipCoefficients(
    _ table: HuffmanTable.Lookup, after position: Int, last: Int, isProgressive: Bool
  ) -> EmptyBlocks {
    var position = position
    while true {
      fill()
      var entry = UInt64(table.packed[Int(truncatingIfNeeded: bits &>> 51)])
      var reached = position &+ Int(truncatingIfNeeded: entry &>> 8)
      if reached < last {
        drop(entry & 0x1F)
        position = reached
        // 28 bits are left, and no entry takes more.
        entry = UInt64(table.packed[Int(truncatingIfNeeded: bits &>> 51)])
        reached = position &+ Int(truncatingIfNeeded: entry &>> 8)
        if reached < last {
          drop(entry & 0x1F)
          position = reached
          continue
        }
      }
      // The last coefficient is there, or the block has ended before it.
      if reached == last || UInt(bitPattern: reached &- HuffmanTable.endOfBlock) < UInt(bitPattern: last) {
        drop(entry & 0x1F)
        return 0
      }
      // A long code, or symbols beyond the end of the block: one at a time.
      fill()
      let code = table.decode(bits)
      let (size, run) = (code & 15, (code &>> 4) & 15)
      drop(UInt64(truncatingIfNeeded: code &>> 8))
      if size == 0 && run != 15 {
        if code == 0 { return -1 }
        return isProgressive ? takeRun(run) : 0
      }
      drop(UInt64(truncatingIfNeeded: size))
      position &+= run &+ 1
      if position >= last { return position == last ? 0 : -1 }
    }
  }

  /// Takes the length of a run of ended blocks, of `size` bits, at most 14: how many follow this one.
  @inline(never)
  private mutating func takeRun(_ size: Int) -> EmptyBlocks {
    fill()
    let more = Int(truncatingIfNeeded: (bits &>> 1) &>> (63 &- UInt64(truncatingIfNeeded: size)))
    drop(UInt64(truncatingIfNeeded: size))
    return (1 &<< size) &+ more &- 1
  }
}
