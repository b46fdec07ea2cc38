/// The steps that lanes seldom take: long codes, the last coefficients of a block, and invalid codes.
///
/// Most invalid codes are met by a lane that has begun at a wrong guess. It begins anew, one bit further on.
///
/// Safety: as `Lanes`, whose bounds allow for these steps: each consumes at most `mostSymbols` codes with their values,
/// of 31 bits, and ends at most one block.
struct SlowSteps {
  /// The most codes of a step.
  static let mostSymbols = 4

  let data: UnsafePointer<UInt8>
  let tables: LaneTables
  private let places: UnsafeMutablePointer<LaneTables.Place>
  private let lookups: UnsafeMutablePointer<(dc: HuffmanTable.Lookup, ac: HuffmanTable.Lookup)>
  /// The memory of all lists.
  let starts: UnsafeMutablePointer<UInt32>
  /// The index in `starts` of a list without a reader, with room for the blocks of a run.
  let spare: Int
  /// For each lane the index in `starts` of its list.
  var lists: SIMD4<Int>
  /// For each lane the bit from which on an invalid code ends its list.
  var lastBits = SIMD4<Int>(repeating: 0)
  /// For each lane the index behind its list, if an invalid code has ended it; else −1.
  var ends = SIMD4<Int>(repeating: -1)

  init(_ data: UnsafePointer<UInt8>, _ tables: LaneTables, _ starts: UnsafeMutablePointer<UInt32>, spare: Int) {
    (self.data, self.tables, self.starts, self.spare) = (data, tables, starts, spare)
    (places, lookups) = (tables.places, tables.lookups)
    lists = SIMD4(repeating: spare)
  }

  /// Takes the lane `number` on by a code or more, up to the end of the block.
  @inline(never)
  mutating func step(_ lane: inout Lanes.Lane, _ number: Int) {
    let offset = lane.place - UnsafeRawPointer(places)
    let lookup = lookups + offset / MemoryLayout<LaneTables.Place>.stride
    var window = BitWindow(data, at: lane.bit)
    if offset % MemoryLayout<LaneTables.Place>.stride == 0 {
      let entry = lookup.pointee.dc.entry(window.bits)
      if entry == 0 { return fail(&lane, number) }
      lane.bit += Int(entry & 0xFF)
      lane.passed = 1
      lane.place += MemoryLayout<UnsafePointer<UInt16>>.stride
      return
    }
    for _ in 0..<Self.mostSymbols {
      window.fill()
      let entry = lookup.pointee.ac.entry(window.bits)
      if entry == 0 { return fail(&lane, number) }
      window.drop(entry & 0xFF)
      lane.bit += Int(entry & 0xFF)
      let (size, run) = ((entry &>> 8) & 15, UInt(truncatingIfNeeded: entry &>> 12))
      let isEnd = size == 0 && run != 15
      if !isEnd { lane.passed += run + 1 }
      if lane.passed > 64 { return fail(&lane, number) }
      if isEnd || lane.passed == 64 {
        lane.next.pointee = UInt32(truncatingIfNeeded: lane.bit)
        lane.next += 1
        lane.place += MemoryLayout<UnsafePointer<UInt16>>.stride
        lane.passed = 0
        return
      }
    }
  }

  /// Lets a lane begin anew after an invalid code. Its list is right so far if it has a beginning that is known, or ends
  /// where it should.
  private mutating func fail(_ lane: inout Lanes.Lane, _ number: Int) {
    if ends[number] < 0, lane.bit >= lastBits[number] { (ends[number], lists[number]) = (lane.next - starts, spare) }
    lane = Lanes.Lane(at: lane.bit + 1, tables, list: starts + lists[number])
  }
}
