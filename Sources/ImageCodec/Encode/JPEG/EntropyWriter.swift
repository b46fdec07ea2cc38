/// Writes the codes of tokens, and a 0 after each byte of ones.
struct EntropyWriter {
  /// Room for twice the bytes of the codes, and 8 more.
  private(set) var next: UnsafeMutablePointer<UInt8>
  private var bits: UInt64 = 0
  private var count: UInt64 = 0

  init(_ start: UnsafeMutablePointer<UInt8>) { next = start }

  /// Writes tokens. An entry has a code, moved by the number of bits that follow it, and the length of both in the
  /// highest 5 bits.
  mutating func write(_ tokens: UnsafeBufferPointer<UInt32>, _ entries: UnsafePointer<UInt32>) {
    var (next, bits, count) = (self.next, self.bits, self.count)
    for token in tokens {
      let entry = entries[Int(token & 0x3FF)]
      let length = UInt64(entry &>> 27)
      bits = bits &<< length | UInt64(entry & 0x7FF_FFFF | token &>> 16)
      count &+= length
      guard count >= 32 else { continue }
      count &-= 32
      let word = UInt32(truncatingIfNeeded: bits &>> count)
      // The highest bit of a byte of the inverse that is 0.
      if (~word &- 0x0101_0101) & word & 0x8080_8080 == 0 {
        UnsafeMutableRawPointer(next).storeBytes(of: word.bigEndian, as: UInt32.self)
        next += 4
      } else {
        next = Self.stuffed(word, count: 4, into: next)
      }
    }
    (self.next, self.bits, self.count) = (next, bits, count)
  }

  /// Fills the last byte with ones.
  mutating func finish() {
    let missing = (8 &- count & 7) & 7
    let bytes = Int(count &+ missing) / 8
    let word = UInt32(truncatingIfNeeded: bits &<< missing | (1 &<< missing &- 1))
    if bytes > 0 { next = Self.stuffed(word &<< UInt32(8 &* (4 &- bytes)), count: bytes, into: next) }
    count = 0
  }

  @inline(never)
  private static func stuffed(
    _ word: UInt32, count: Int, into target: UnsafeMutablePointer<UInt8>
  ) -> UnsafeMutablePointer<UInt8> {
    var next = target
    for index in 0..<count {
      next[0] = UInt8(truncatingIfNeeded: word &>> UInt32(24 &- 8 &* index))
      next[1] = 0
      next += next[0] == 255 ? 2 : 1
    }
    return next
  }
}
