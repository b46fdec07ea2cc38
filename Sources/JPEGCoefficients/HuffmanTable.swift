import Synchronization

/// Lookup tables for decoding a Huffman code, in memory that the table owns.
///
/// Safety: nothing is changed once they are made, so threads share them.
///
/// Four tables, each indexed by the next bits of the stream:
/// - `single` gives one symbol and the number of bits to consume, with its value bits: 9 bits, enough for most codes.
/// - `packed` gives the number of bits to consume and of coefficients to skip, for as many symbols as fit.
/// - `valued` gives one coefficient, or a difference of DC coefficients, with its value, if code and value have at most
///   11 bits.
/// - `canonical` finds the symbol of a code of any length, bit by bit.
final class HuffmanTable: @unchecked Sendable {
  /// The index width of `single`.
  static let singleBits = 9
  /// The index width of `packed`.
  static let packedBits = 13
  /// The index width of `valued`.
  static let valuedBits = 11
  /// In `packed`: the symbols include the end of the block. Added to the number of coefficients skipped.
  static let endOfBlock = 128
  /// In `packed`: no entry, decode one symbol with `canonical`. So many coefficients are in no block.
  static let unknown: UInt16 = 64 << 8

  /// Pointers to the tables, valid as long as the table lives.
  struct Lookup {
    /// Indexed by 9 bits: the bits to consume in the low byte, the symbol in the high byte; 0 for a longer code.
    var single: UnsafePointer<UInt16>
    /// Indexed by 13 bits: the bits to consume (at most 28) in the low byte; the coefficients skipped (at most 63),
    /// plus `endOfBlock`, in the high byte. AC tables only.
    var packed: UnsafePointer<UInt16>
    /// Indexed by 11 bits: the bits to consume in the low byte, the coefficients passed with this one in the next, or
    /// `endOfBlock`; the value in the high 16 bits. 0 for longer codes, and for end-of-band runs of more than this block.
    /// Not of the DC tables of progressive files.
    var valued: UnsafePointer<UInt32>
    /// 17 upper bounds of the codes of each length, left-aligned in 16 bits, the last above all codes; then for each
    /// length the offset from a code to its symbol's index; then 256 symbols.
    var canonical: UnsafePointer<UInt32>
  }

  let lookup: Lookup
  /// The codes in ascending order.
  let entries: [HuffmanCode.Entry]

  private let memory: UnsafeMutableRawPointer

  /// Builds the tables; nil if the code is invalid.
  ///
  /// - Parameter isProgressive: In a progressive scan of AC coefficients the symbols of size 0 mean end-of-band runs.
  init?(_ code: HuffmanCode, use: HuffmanCode.Use, isProgressive: Bool) {
    guard let entries = code.entries(for: use) else { return nil }
    self.entries = entries
    let canonicalCount = 18 + 18 + 256
    let singleCount = 1 << Self.singleBits
    // `packed` is built from its levels for fewer bits, which precede it.
    let packedCount = use == .ac ? 2 << Self.packedBits : 0
    let valuedCount = use == .ac || !isProgressive ? 1 << Self.valuedBits : 0
    let wordCount = canonicalCount + valuedCount
    memory = .allocate(byteCount: wordCount * 4 + (singleCount + packedCount) * 2, alignment: 64)
    let canonical = memory.bindMemory(to: UInt32.self, capacity: canonicalCount)
    let valued = (memory + canonicalCount * 4).bindMemory(to: UInt32.self, capacity: valuedCount)
    let rest = memory + wordCount * 4
    let single = rest.bindMemory(to: UInt16.self, capacity: singleCount)
    let levels = (rest + singleCount * 2).bindMemory(to: UInt16.self, capacity: packedCount)
    Self.fillCanonical(canonical, count: canonicalCount, entries, counts: code.counts)
    Self.fillSingle(single, count: singleCount, entries)
    if valuedCount > 0 { Self.fillValued(valued, count: valuedCount, entries, isProgressive: isProgressive) }
    if use == .ac { Self.fillPacked(levels, entries, isProgressive: isProgressive) }
    lookup = Lookup(
      single: single, packed: levels + (use == .ac ? 1 << Self.packedBits : 0), valued: valued,
      canonical: canonical)
  }

  private struct Key: Equatable {
    var code: HuffmanCode
    var use: HuffmanCode.Use
    var isProgressive: Bool
  }

  /// The latest tables, because most files of the web have those of the standard.
  private static let latest = Mutex<[(key: Key, table: HuffmanTable)]>([])

  /// The table of this code, which may have been made for another file; nil if the code is invalid.
  static func shared(_ code: HuffmanCode, use: HuffmanCode.Use, isProgressive: Bool) -> HuffmanTable? {
    let key = Key(code: code, use: use, isProgressive: isProgressive)
    if let found = latest.withLock({ $0.first { $0.key == key }?.table }) { return found }
    guard let table = HuffmanTable(code, use: use, isProgressive: isProgressive) else { return nil }
    latest.withLock { tables in
      if tables.count == 8 { tables.removeFirst() }
      tables.append((key, table))
    }
    return table
  }

  /// A table without codes, for scans that have none.
  static func empty() -> HuffmanTable? {
    HuffmanTable(
      HuffmanCode(counts: [UInt8](repeating: 0, count: 16), symbols: []), use: .dc, isProgressive: true)
  }

  deinit { memory.deallocate() }

  private static func fillCanonical(
    _ table: UnsafeMutablePointer<UInt32>, count: Int, _ entries: [HuffmanCode.Entry], counts: [UInt8]
  ) {
    table.initialize(repeating: 0, count: count)
    var (code, index): (UInt32, UInt32) = (0, 0)
    for length in 1...16 {
      let these = UInt32(counts[length - 1])
      table[18 + length] = index &- code
      code += these
      index += these
      table[length] = code << UInt32(16 - length)
      code <<= 1
    }
    table[17] = .max
    for (index, entry) in entries.enumerated() { table[36 + index] = UInt32(entry.symbol) }
  }

  private static func fillSingle(_ table: UnsafeMutablePointer<UInt16>, count: Int, _ entries: [HuffmanCode.Entry]) {
    table.initialize(repeating: 0, count: count)
    for entry in entries where entry.length <= singleBits {
      let width = singleBits - entry.length
      let value = UInt16(entry.length + entry.size) | UInt16(entry.symbol) << 8
      (table + entry.code << width).update(repeating: value, count: 1 << width)
    }
  }

  private static func fillValued(
    _ table: UnsafeMutablePointer<UInt32>, count: Int, _ entries: [HuffmanCode.Entry], isProgressive: Bool
  ) {
    table.initialize(repeating: 0, count: count)
    for entry in entries where entry.length + entry.size <= valuedBits {
      let width = valuedBits - entry.length - entry.size
      let isEnd = entry.size == 0 && entry.run != 15
      // The length of an end-of-band run follows in the stream.
      if isEnd && isProgressive && entry.run > 0 { continue }
      let passed = isEnd ? endOfBlock : entry.run + 1
      for bits in 0..<1 << entry.size {
        // As in JPEG's EXTEND, a leading 0 means a negative number.
        let isNegative = entry.size > 0 && bits >> (entry.size - 1) == 0
        let value = isNegative ? bits + 1 - 1 << entry.size : bits
        let word = UInt32(truncatingIfNeeded: value << 16 | passed << 8 | entry.length + entry.size)
        (table + (entry.code << entry.size | bits) << width).update(repeating: word, count: 1 << width)
      }
    }
  }

  /// Level n, at index 2ⁿ, is the table for n bits. After a symbol of t bits follows an entry of the level for n − t
  /// bits, which is already complete, so each entry takes one addition.
  private static func fillPacked(
    _ levels: UnsafeMutablePointer<UInt16>, _ entries: [HuffmanCode.Entry], isProgressive: Bool
  ) {
    levels.initialize(repeating: 0, count: 2 << packedBits)
    // The most coefficients that an entry of each level skips.
    var most = [Int](repeating: 0, count: packedBits + 1)
    for bits in 1...packedBits {
      let level = levels + 1 << bits
      for entry in entries where entry.length <= bits {
        let place = level + entry.code << (bits - entry.length)
        let isEnd = entry.size == 0 && entry.run != 15
        if isEnd {
          // The length of an end-of-band run follows in the stream.
          if isProgressive && entry.run > 0 { continue }
          let value = UInt16(entry.length) | UInt16(endOfBlock) << 8
          place.update(repeating: value, count: 1 << (bits - entry.length))
          continue
        }
        let passed = entry.run + 1
        let total = entry.length + entry.size
        let value = UInt16(total) | UInt16(passed) << 8
        most[bits] = max(most[bits], passed)
        guard total < bits else {
          place.update(repeating: value, count: 1 << (bits - entry.length))
          continue
        }
        let rest = bits - total
        let following = levels + 1 << rest
        let fits = passed + most[rest] <= 63
        if fits { most[bits] = max(most[bits], passed + most[rest]) } else { most[bits] = 63 }
        for start in stride(from: 0, to: 1 << (bits - entry.length), by: 1 << rest) {
          let target = place + start
          if fits {
            for index in 0..<1 << rest { target[index] = value &+ following[index] }
          } else {
            for index in 0..<1 << rest {
              let together = passed + Int(following[index] >> 8) & 127
              target[index] = together <= 63 ? value &+ following[index] : value
            }
          }
        }
      }
    }
    let table = levels + 1 << packedBits
    for index in 0..<1 << packedBits where table[index] == 0 { table[index] = unknown }
  }
}

extension HuffmanTable.Lookup {
  /// Decodes the code at the top of `bits` with `canonical`: `length << 8 | symbol`, or 0 if no code starts with these
  /// bits. No code that starts with them is shorter than `shortest`.
  @inline(never)
  func decode(_ bits: UInt64, from shortest: Int = 1) -> Int {
    let top = UInt32(truncatingIfNeeded: bits &>> 48)
    var length = shortest
    // Entry 17 is above every 16-bit value.
    while top >= canonical[length] { length &+= 1 }
    if length > 16 { return 0 }
    let index = (top &>> UInt32(16 &- length)) &+ canonical[18 &+ length]
    return length &<< 8 | Int(canonical[36 &+ Int(index & 255)])
  }

  /// The entry of `single` for the top bits of `bits`, or one computed from `canonical`; 0 if no code starts with these
  /// bits. At most 31 bits are consumed.
  @inline(__always)
  func entry(_ bits: UInt64) -> UInt64 {
    let entry = UInt64(single[Int(truncatingIfNeeded: bits &>> 55)])
    if entry != 0 { return entry }
    let code = UInt64(truncatingIfNeeded: decode(bits, from: HuffmanTable.singleBits + 1))
    return code == 0 ? 0 : (code &>> 8) &+ (code & 15) | (code & 0xFF) &<< 8
  }
}

/// A Huffman code as a DHT segment defines it: the number of codes of each length, and their symbols.
struct HuffmanCode: Equatable {
  /// The class of a table (Tc).
  enum Use {
    /// Differences of DC coefficients: a symbol is the number of value bits, at most 15.
    case dc
    /// AC coefficients: the high four bits of a symbol are a run of zeros, the low four the number of value bits.
    case ac
  }

  /// The number of codes of each length from 1 to 16 bits.
  var counts: [UInt8]
  /// The symbols in the order of their codes, at most 256.
  var symbols: [UInt8]

  /// The codes in ascending order; nil if the code is invalid, as libjpeg defines it: more codes of a length than fit,
  /// a code of only ones, or a symbol not allowed for the use.
  func entries(for use: Use) -> [Entry]? {
    guard counts.count == 16, counts.reduce(0, { $0 + Int($1) }) == symbols.count, symbols.count <= 256 else {
      return nil
    }
    if use == .dc && symbols.contains(where: { $0 > 15 }) { return nil }
    var entries: [Entry] = []
    entries.reserveCapacity(symbols.count)
    var code = 0
    for length in 1...16 {
      for _ in 0..<counts[length - 1] {
        entries.append(Entry(code: code, length: length, symbol: symbols[entries.count]))
        code += 1
      }
      if counts[length - 1] > 0 && code >= 1 << length { return nil }
      code <<= 1
    }
    return entries
  }

  /// One code and its symbol.
  struct Entry {
    var code: Int
    var length: Int
    var symbol: UInt8
    /// The number of zeros before the coefficient.
    var run: Int { Int(symbol >> 4) }
    /// The number of value bits that follow the code.
    var size: Int { Int(symbol & 15) }
  }
}
