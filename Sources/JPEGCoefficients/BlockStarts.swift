/// Finds the beginnings of blocks in the loaded data of a scan, by lanes that decode several parts of it at once.
///
/// The first part begins where an MCU is known to begin, as do those behind restart markers. The others begin with a
/// guess. A wrong guess leads to the right codes soon, for photographs after 90 bytes in the mean, so the blocks of a part
/// count once an MCU that was decoded otherwise ends where a block of the part begins that may be the first of an MCU.
///
/// A list has only what is decoded as one block after the other does: up to the last beginning, all codes are valid, and
/// no block has more than 64 coefficients. So what is behind the first damage is never read from a list.
struct BlockStarts {
  /// A part of the data, and its list.
  private struct Part {
    /// The bits of the data.
    var bits: Range<Int>
    /// Whether the first block of an MCU begins at the first bit.
    var isExact: Bool
    /// The bit at which its lane may end: behind `bits` where the next part begins with a guess.
    var until: Int
    /// The indices of the beginnings of its blocks in the memory of all lists. The block that begins last may be
    /// incomplete.
    var list: Range<Int>
  }

  /// The lists and the lanes.
  private final class Memory {
    let starts: UnsafeMutablePointer<UInt32>
    let lanes: UnsafeMutablePointer<Lanes.Lane>

    init(_ sizes: LaneSchedule.Sizes, _ tables: LaneTables) {
      starts = .allocate(capacity: sizes.listBytes / MemoryLayout<UInt32>.stride)
      lanes = .allocate(capacity: Lanes.count)
      lanes.initialize(repeating: Lanes.Lane(at: 0, tables, list: starts), count: Lanes.count)
    }

    deinit {
      starts.deallocate()
      lanes.deallocate()
    }
  }

  /// The most restart intervals that are loaded behind the current one.
  static let mostIntervals = 64

  private let tables: LaneTables
  private let memory: Memory
  private(set) var schedule: LaneSchedule
  private var parts: [Part] = []
  /// The part whose list is read, and the index of the next beginning in it.
  private var current = 0
  private var next = 0
  /// The bit from which on blocks are decoded one after the other, because no list has them.
  private var lostSince: Int?
  /// The bits that were decoded like this since the lists were made.
  private var lostBits = 0

  init(_ tables: LaneTables, _ sizes: LaneSchedule.Sizes) {
    (self.tables, memory, schedule) = (tables, Memory(sizes, tables), LaneSchedule(sizes))
    parts.reserveCapacity(sizes.mostParts)
  }

  /// Whether there are lists that are not read to their end.
  var hasLists: Bool { current < parts.count }

  /// The buffer has been loaded anew, so the lists are void.
  mutating func bufferLoaded() {
    clear()
    schedule.bufferLoaded()
  }

  /// Forgets the lists.
  mutating func clear() {
    parts.removeAll(keepingCapacity: true)
    (current, next, lostSince, lostBits) = (0, 0, nil, 0)
  }

  /// The beginnings of the blocks of whole MCUs from `bit` on, and of the one behind them: the first of them, and the
  /// number of MCUs. Nil if an MCU that begins there is in no list.
  mutating func known(from bit: Int) -> (starts: UnsafePointer<UInt32>, mcus: Int)? {
    while hasLists {
      let list = parts[current].list
      while next < list.upperBound, memory.starts[next] < bit { next += 1 }
      if next < list.upperBound, memory.starts[next] == bit,
        tables.isLikeFirst[(next - list.lowerBound) % tables.blocks.count]
      {
        let mcus = (list.upperBound - 1 - next) / tables.blocks.count
        if mcus > 0 {
          endLoss(at: bit)
          return (UnsafePointer(memory.starts + next), mcus)
        }
      }
      let isNext = current + 1 < parts.count && bit >= parts[current + 1].bits.lowerBound
      guard isNext || next >= list.upperBound - tables.blocks.count else { break }
      leavePart(at: bit)
    }
    if hasLists { lose(at: bit) }
    return nil
  }

  /// Notes that MCUs whose beginnings are known were decoded.
  mutating func take(mcus: Int) { next += mcus * tables.blocks.count }

  private mutating func leavePart(at bit: Int) {
    current += 1
    if hasLists {
      next = parts[current].list.lowerBound
    } else {
      endLoss(at: bit)
      let bits = bit - parts[0].bits.lowerBound
      if 2 * lostBits > bits {
        schedule.failed()
      } else {
        schedule.met(bits: bits, blocks: parts.reduce(0) { $0 + $1.list.count })
      }
    }
  }

  /// Notes that an MCU is in no list, and gives up the lists if the last that was is far away.
  private mutating func lose(at bit: Int) {
    guard let since = lostSince else {
      lostSince = bit
      return
    }
    if bit - since > max(parts[0].bits.count, 8 * schedule.sizes.shortestPart) {
      current = parts.count
      lostSince = nil
      schedule.failed()
    }
  }

  private mutating func endLoss(at bit: Int) {
    if let since = lostSince { lostBits += bit - since }
    lostSince = nil
  }

  /// Makes lists of the loaded data from the current position on, where an MCU begins, if there is enough.
  mutating func find(in entropy: borrowing EntropyBuffer) {
    let (bit, end) = (entropy.bitPosition, entropy.endOfData)
    guard let (length, count) = schedule.parts(of: (end - bit) / 8) else { return }
    clear()
    guard entropy.laterIntervals.count * schedule.sizes.leastInterval * 8 <= end - bit else { return schedule.failed() }
    plan(from: bit, intervals: entropy.laterIntervals.map { $0 * 8 } + [end], length: 8 * length, count: count)
    run(entropy.data, end: end)
  }

  /// Divides the data into at most `count` parts of about `length` bits. The intervals, which end at these bits, are
  /// decoded apart.
  private mutating func plan(from bit: Int, intervals: [Int], length: Int, count: Int) {
    var start = bit
    for end in intervals {
      let first = start
      while start < end, parts.count < count {
        let isLast = end - start < length * 3 / 2
        let stop = isLast ? end : start + length
        let list = parts.count * schedule.sizes.room
        parts.append(
          Part(
            bits: start..<stop, isExact: start == first, until: isLast ? stop : stop + 8 * schedule.sizes.overlap,
            list: list..<list))
        start = stop
      }
      start = end
    }
  }

  /// Fills the lists. A lane that has finished its part takes the next.
  private mutating func run(_ data: UnsafePointer<UInt8>, end: Int) {
    let (lanes, spare) = (memory.lanes, schedule.sizes.mostParts * schedule.sizes.room)
    var slow = SlowSteps(data, tables, memory.starts, spare: spare)
    var taken = SIMD4<Int>(repeating: -1)
    var waiting = 0
    // What lanes without a part decode again and again: they cost nothing beside the others.
    let filler = parts[0].bits.lowerBound
    while true {
      var rounds = min(Lanes.mostRounds, (end - filler) / Lanes.mostBits)
      for number in 0..<Lanes.count {
        var most = 0
        while true {
          let part = taken[number]
          if part >= 0 {
            most = roundsLeft(of: parts[part], lanes[number], isEnded: slow.ends[number] >= 0, end: end)
            if most > 0 { break }
            let listEnd = slow.ends[number] < 0 ? lanes[number].next - memory.starts : slow.ends[number]
            parts[part].list = parts[part].list.lowerBound..<listEnd
          }
          guard waiting < parts.count else {
            taken[number] = -1
            break
          }
          begin(parts[waiting], number, &slow)
          taken[number] = waiting
          waiting += 1
        }
        if taken[number] < 0 {
          slow.lists[number] = spare
          lanes[number] = Lanes.Lane(at: filler, tables, list: memory.starts + spare)
        } else {
          rounds = min(rounds, most)
          lanes[number].place = tables.firstPlace(like: lanes[number].place)
        }
      }
      if taken.max() < 0 { return }
      Lanes.run(lanes, rounds: rounds, data, &slow)
    }
  }

  private func begin(_ part: Part, _ number: Int, _ slow: inout SlowSteps) {
    slow.lists[number] = part.list.lowerBound
    slow.ends[number] = -1
    // A code that begins less than that before the end may be one of the next interval.
    slow.lastBits[number] = part.isExact ? 0 : part.bits.upperBound - 31
    memory.lanes[number] = Lanes.Lane(at: part.bits.lowerBound, tables, list: memory.starts + part.list.lowerBound)
  }

  /// The rounds that a lane may run before it is looked at again: 0 if it has finished its part, or if the data or its
  /// list might end.
  private func roundsLeft(of part: Part, _ lane: Lanes.Lane, isEnded: Bool, end: Int) -> Int {
    if isEnded || lane.bit >= part.until { return 0 }
    let room = part.list.lowerBound + schedule.sizes.room - (lane.next - memory.starts)
    // Rounds are mostly shorter than this.
    let wanted = 4 + (part.until - lane.bit) / 24
    return min(wanted, room / 2, (end - lane.bit) / Lanes.mostBits)
  }
}
