/// The tables by which lanes skip the codes of a scan: for each block of an MCU one for its beginning, and one for its
/// rest.
///
/// Safety: it owns the tables that lanes read through its pointers, and keeps alive those that they refer to.
final class LaneTables {
  /// Two tables as `HuffmanTable.Lookup.packed`. The entries of `first` begin with the code of a DC coefficient, which
  /// counts as passed; `rest` is for the AC coefficients that follow.
  struct Place {
    var first: UnsafePointer<UInt16>
    var rest: UnsafePointer<UInt16>
  }

  /// The tables of one block.
  struct Block {
    var dc: HuffmanTable
    var ac: HuffmanTable

    func isLike(_ other: Block) -> Bool { dc === other.dc && ac === other.ac }
  }

  /// The most bytes that the tables of an MCU take.
  static var mostBytes: Int {
    let place = MemoryLayout<Place>.stride + MemoryLayout<(dc: HuffmanTable.Lookup, ac: HuffmanTable.Lookup)>.stride
    return EntropyBuffer.mostBlocks * 2 << HuffmanTable.packedBits
      + (EntropyBuffer.mostBlocks + Lanes.mostBlocks) * place
  }

  /// The blocks of an MCU.
  let blocks: [Block]
  /// The places of an MCU's blocks, again and again: for all blocks that a lane passes in one run.
  let places: UnsafeMutablePointer<Place>
  /// The same for each place's codes.
  let lookups: UnsafeMutablePointer<(dc: HuffmanTable.Lookup, ac: HuffmanTable.Lookup)>
  /// For each block of an MCU whether the blocks from it on have the same tables as those from the first one on, so
  /// that a lane may take it for the first.
  let isLikeFirst: [Bool]

  /// As `HuffmanTable.unknown`, but not the number of coefficients that ends a block.
  private static let unknown: UInt16 = 65 << 8

  private let memory: UnsafeMutablePointer<UInt16>

  /// Tables for MCUs of these blocks, at least one.
  init(_ blocks: [Block]) {
    self.blocks = blocks
    // For each block the first one with the same tables.
    let likes = blocks.map { block in blocks.firstIndex { $0.isLike(block) } ?? 0 }
    isLikeFirst = likes.indices.map { first in
      likes.indices.allSatisfy { likes[(first + $0) % likes.count] == likes[$0] }
    }
    let kinds = Array(Set(likes)).sorted()
    let count = 1 << HuffmanTable.packedBits
    memory = .allocate(capacity: kinds.count * count)
    for (number, kind) in kinds.enumerated() { Self.fill(memory + number * count, blocks[kind]) }
    let room = blocks.count + Lanes.mostBlocks
    // Aligned, so that one bit of an address says which of the two tables of a place it is.
    places = UnsafeMutableRawPointer.allocate(
      byteCount: room * MemoryLayout<Place>.stride, alignment: MemoryLayout<Place>.stride
    ).bindMemory(to: Place.self, capacity: room)
    lookups = .allocate(capacity: room)
    for index in 0..<room {
      let kind = likes[index % blocks.count]
      let first = memory + (kinds.firstIndex(of: kind) ?? 0) * count
      (places + index).initialize(to: Place(first: first, rest: blocks[kind].ac.lookup.packed))
      (lookups + index).initialize(to: (blocks[kind].dc.lookup, blocks[kind].ac.lookup))
    }
  }

  /// The place of the same block in the first MCU.
  func firstPlace(like place: UnsafeRawPointer) -> UnsafeRawPointer {
    let start = UnsafeRawPointer(places)
    return start + (place - start) % (blocks.count * MemoryLayout<Place>.stride)
  }

  deinit {
    places.deallocate()
    lookups.deallocate()
    memory.deallocate()
  }

  /// After a DC code of t bits follows an entry of the AC table's level for the bits that are left: see
  /// `HuffmanTable.fillPacked`.
  private static func fill(_ table: UnsafeMutablePointer<UInt16>, _ block: Block) {
    let bits = HuffmanTable.packedBits
    let levels = block.ac.lookup.packed - 1 << bits
    table.initialize(repeating: unknown, count: 1 << bits)
    for entry in block.dc.entries where entry.length <= bits {
      let total = entry.length + entry.size
      let value = UInt16(total) | 1 << 8
      let (start, end) = (entry.code << (bits - entry.length), (entry.code + 1) << (bits - entry.length))
      guard total < bits else {
        (table + start).update(repeating: value, count: end - start)
        continue
      }
      let width = 1 << (bits - total)
      let following = levels + width
      for part in stride(from: start, to: end, by: width) {
        for index in 0..<width { table[part + index] = value &+ following[index] }
      }
    }
  }
}
