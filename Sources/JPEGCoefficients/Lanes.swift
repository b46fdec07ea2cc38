/// Four lanes that skip the codes of four parts of a scan's data in lock step, and note where blocks begin: the length of
/// each code is known only after the one before, so that one lane alone mostly waits.
///
/// Safety: it checks no bounds. In a round each lane consumes at most `mostBits` bits and ends at most two blocks, and
/// reads at most 8 bytes behind these bits. The caller guarantees so many bits of data and so much room in the lists for
/// all rounds. Tables have 2¹³ entries, which the top 13 bits of a word index.
enum Lanes {
  static let count = 4
  /// The most rounds of one run, and the most blocks that a lane ends in them.
  static let mostRounds = 128
  static let mostBlocks = 2 * mostRounds
  /// The most bits that a lane consumes in a round: in each of its two steps as many as `SlowSteps` takes at most.
  static let mostBits = 2 * SlowSteps.mostSymbols * 31

  /// The state of one lane.
  struct Lane {
    /// The number of the next bit of the data.
    var bit: Int
    /// The coefficients of the current block that were passed, the DC coefficient among them.
    var passed: UInt
    /// The pointer in `LaneTables.places` to the next step's table.
    var place: UnsafeRawPointer
    /// Where the beginning of the next block is written.
    var next: UnsafeMutablePointer<UInt32>

    /// A lane whose first block, the first of an MCU, begins at `bit`. It is noted in `list`.
    init(at bit: Int, _ tables: LaneTables, list: UnsafeMutablePointer<UInt32>) {
      (self.bit, passed, place) = (bit, 0, UnsafeRawPointer(tables.places))
      list.pointee = UInt32(truncatingIfNeeded: bit)
      next = list + 1
    }
  }

  /// The next 57 bits or more, from `bit` on.
  @inline(__always)
  static func window(_ data: UnsafePointer<UInt8>, _ bit: Int) -> UInt64 {
    UInt64(bigEndian: UnsafeRawPointer(data + bit &>> 3).loadUnaligned(as: UInt64.self))
      &<< UInt64(truncatingIfNeeded: bit & 7)
  }

  /// Skips as many codes as one entry of a table has: at most 28 bits. The only branch is the rare one.
  @inline(__always)
  private static func step(
    _ lane: inout Lane, _ bits: inout UInt64, _ number: Int, _ data: UnsafePointer<UInt8>,
    _ slow: UnsafeMutablePointer<SlowSteps>
  ) {
    let table = lane.place.load(as: UnsafePointer<UInt16>.self)
    let entry = UInt(table[Int(truncatingIfNeeded: bits &>> 51)])
    let passed = lane.passed &+ entry &>> 8
    // There is no entry, or it has more than the block: 64 coefficients, perhaps with an end of the block behind them.
    if _slowPath(passed & 64 != 0) {
      // The block ends with its last coefficient. No entry without codes comes to this.
      if passed == 64 {
        bits = bits &<< UInt64(truncatingIfNeeded: entry)
        lane.bit = lane.bit &+ Int(bitPattern: entry & 0xFF)
        lane.next.pointee = UInt32(truncatingIfNeeded: lane.bit)
        lane.next += 1
        lane.place = UnsafeRawPointer(bitPattern: (UInt(bitPattern: lane.place) | 8) &+ 8).unsafelyUnwrapped
        lane.passed = 0
        return
      }
      // A copy, so that the lane itself stays in registers.
      var copy = lane
      slow.pointee.step(&copy, number)
      lane = copy
      bits = window(data, lane.bit)
      return
    }
    bits = bits &<< UInt64(truncatingIfNeeded: entry)
    lane.bit = lane.bit &+ Int(bitPattern: entry & 0xFF)
    // 1 if the block has ended (`HuffmanTable.endOfBlock`), else 0.
    let end = passed &>> 7
    // If the block goes on, the next step overwrites this.
    lane.next.pointee = UInt32(truncatingIfNeeded: lane.bit)
    lane.next += Int(bitPattern: end)
    // From the first table of a place to the second, or to the first of the next place. Never 0.
    lane.place = UnsafeRawPointer(bitPattern: (UInt(bitPattern: lane.place) | 8) &+ end &* 8).unsafelyUnwrapped
    lane.passed = passed & (end &- 1)
  }

  /// Lets the four lanes run for some rounds.
  @inline(never)
  static func run(
    _ lanes: UnsafeMutablePointer<Lane>, rounds: Int, _ data: UnsafePointer<UInt8>,
    _ slow: UnsafeMutablePointer<SlowSteps>
  ) {
    var (a, b, c, d) = (lanes[0], lanes[1], lanes[2], lanes[3])
    var left = rounds
    while left > 0 {
      left &-= 1
      var (bitsA, bitsB) = (window(data, a.bit), window(data, b.bit))
      var (bitsC, bitsD) = (window(data, c.bit), window(data, d.bit))
      step(&a, &bitsA, 0, data, slow)
      step(&b, &bitsB, 1, data, slow)
      step(&c, &bitsC, 2, data, slow)
      step(&d, &bitsD, 3, data, slow)
      // At least 29 bits are left, and no entry consumes more.
      step(&a, &bitsA, 0, data, slow)
      step(&b, &bitsB, 1, data, slow)
      step(&c, &bitsC, 2, data, slow)
      step(&d, &bitsD, 3, data, slow)
    }
    (lanes[0], lanes[1], lanes[2], lanes[3]) = (a, b, c, d)
  }
}
