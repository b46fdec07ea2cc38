/// A 64-bit window over entropy-coded data; the next bit is the most significant.
///
/// Bits below the `count` valid ones are zero or already equal the stream's next bits, so refilling over them is
/// harmless.
///
/// Safety: it reads from `next` without bounds checks, and so do its decoding methods. `EntropyBuffer.safeLimit` says
/// up to where a whole MCU can be decoded: a block consumes at most 31 bits for each of 64 coefficients, since anything
/// past the last coefficient ends it. Indices into Huffman tables are the top 9, 13 or 16 bits of a word, or masked.
struct BitWindow {
  var bits: UInt64 = 0
  var count: UInt64 = 0
  /// The next byte to load.
  var next: UnsafePointer<UInt8>

  init(bits: UInt64 = 0, count: UInt64 = 0, next: UnsafePointer<UInt8>) {
    (self.bits, self.count, self.next) = (bits, count, next)
  }

  /// The bits of `data` from `bit` on: at least 49 valid ones.
  @inline(__always)
  init(_ data: UnsafePointer<UInt8>, at bit: Int) {
    self.init(next: data + bit &>> 3)
    fill()
    drop(UInt64(truncatingIfNeeded: bit & 7))
  }

  /// Refills to at least 56 valid bits. Reads 8 bytes at `next` and advances it by at most 7.
  @inline(__always)
  mutating func fill() {
    let bytes = UInt64(bigEndian: UnsafeRawPointer(next).loadUnaligned(as: UInt64.self))
    bits |= bytes &>> count
    next += Int(truncatingIfNeeded: (63 &- count) &>> 3)
    count |= 56
  }

  /// Consumes bits: fewer than 64, and no more than are valid.
  @inline(__always)
  mutating func drop(_ dropped: UInt64) {
    bits = bits &<< dropped
    count = count &- dropped
  }

  /// The value of the top `size` bits of `bits`; as in JPEG's EXTEND, a leading 0 means a negative number.
  @inline(__always)
  private static func value(_ bits: UInt64, _ size: UInt64) -> Int {
    // Two shifts, since `size` may be 0 and a masking shift by 64 would shift by 0.
    let value = Int(truncatingIfNeeded: (bits &>> 1) &>> (63 &- size))
    let isPositive = Int(truncatingIfNeeded: bits) &>> 63
    return value &- (~isPositive & ((1 &<< Int(truncatingIfNeeded: size)) &- 1))
  }

  /// Decodes the difference of a DC coefficient; nil for an invalid code. Needs 31 valid bits, and consumes at most
  /// those.
  @inline(__always)
  mutating func takeDifference(_ table: HuffmanTable.Lookup) -> Int? {
    let entry = table.entry(bits)
    if entry == 0 { return nil }
    // A DC symbol is the number of value bits.
    let (total, size) = (entry & 0xFF, entry &>> 8)
    let value = Self.value(bits &<< (total &- size), size)
    drop(total)
    return value
  }

  /// The result of decoding a block's AC coefficients: how many blocks after it are empty (an end-of-band run; 0 except
  /// in progressive scans), or −1 for damage.
  typealias EmptyBlocks = Int

  /// Decodes the coefficients of a block at the zigzag positions after `position`, up to `last` in this scan, and passes
  /// those up to `lastKept` to `keep`; those beyond are skipped, or left unread. A position passed may be up to 15 beyond `lastKept`, and
  /// even beyond 63 if the data are damaged. A run of 16 zeros is passed as its last one.
  @inline(__always)
  mutating func takeCoefficients(
    _ table: HuffmanTable.Lookup, after position: Int, lastKept: Int, last: Int = 63, isProgressive: Bool = false,
    skipsRest: Bool = true, keep: (_ position: Int, _ value: Int) -> Void
  ) -> EmptyBlocks {
    var position = position
    while position < lastKept {
      fill()
      var quick = takeQuickly(table)
      if quick != 0 {
        position &+= (quick &>> 8) & 0xFF
        if position >= HuffmanTable.endOfBlock { return 0 }
        keep(position, quick &>> 16)
        if position >= lastKept { break }
        // 45 valid bits are left.
        quick = takeQuickly(table)
        if quick == 0 { continue }
        position &+= (quick &>> 8) & 0xFF
        if position >= HuffmanTable.endOfBlock { return 0 }
        keep(position, quick &>> 16)
        continue
      }
      let entry = table.entry(bits)
      let (total, size, run) = (entry & 0xFF, (entry &>> 8) & 15, Int(truncatingIfNeeded: entry &>> 12))
      if size == 0 && run != 15 {
        if entry == 0 { return -1 }
        drop(total)
        return isProgressive ? takeRun(run) : 0
      }
      position &+= run &+ 1
      let value = Self.value(bits &<< (total &- size), size)
      keep(position, value)
      drop(total)
    }
    if position >= last { return position == last ? 0 : -1 }
    return skipsRest ? skipCoefficients(table, after: position, last: last, isProgressive: isProgressive) : 0
  }

  /// Consumes a coefficient that `valued` has, and returns its entry; else consumes nothing and returns 0.
  @inline(__always)
  private mutating func takeQuickly(_ table: HuffmanTable.Lookup) -> Int {
    let entry = table.valued[Int(truncatingIfNeeded: bits &>> 53)]
    drop(UInt64(truncatingIfNeeded: entry & 0xFF))
    return Int(Int32(bitPattern: entry))
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
        // 28 valid bits are left, and no entry consumes more.
        entry = UInt64(table.packed[Int(truncatingIfNeeded: bits &>> 51)])
        reached = position &+ Int(truncatingIfNeeded: entry &>> 8)
        if reached < last {
          drop(entry & 0x1F)
          position = reached
          continue
        }
      }
      // The last coefficient is reached, or the block has ended before it.
      if reached == last || UInt(bitPattern: reached &- HuffmanTable.endOfBlock) < UInt(bitPattern: last) {
        drop(entry & 0x1F)
        return 0
      }
      let (_, end) = skipSymbol(table, &position, last: last, isProgressive: isProgressive)
      if let end { return end }
    }
  }

  /// Skips one symbol after `position`: one with a long code, or before others beyond the end of the block. Returns the
  /// number of its coefficient's bits, and the result of the block if it has ended.
  @inline(__always)
  mutating func skipSymbol(
    _ table: HuffmanTable.Lookup, _ position: inout Int, last: Int, isProgressive: Bool
  ) -> (size: Int, end: EmptyBlocks?) {
    fill()
    let code = table.decode(bits)
    let (size, run) = (code & 15, (code &>> 4) & 15)
    drop(UInt64(truncatingIfNeeded: code &>> 8))
    if size == 0 && run != 15 {
      if code == 0 { return (0, -1) }
      return (0, isProgressive ? takeRun(run) : 0)
    }
    drop(UInt64(truncatingIfNeeded: size))
    position &+= run &+ 1
    return (size, position < last ? nil : position == last ? 0 : -1)
  }

  /// Decodes the length of an end-of-band run, of `size` bits, at most 14: the number of empty blocks after this one.
  @inline(never)
  mutating func takeRun(_ size: Int) -> EmptyBlocks {
    fill()
    let more = Int(truncatingIfNeeded: (bits &>> 1) &>> (63 &- UInt64(truncatingIfNeeded: size)))
    drop(UInt64(truncatingIfNeeded: size))
    return (1 &<< size) &+ more &- 1
  }
}
