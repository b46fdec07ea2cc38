/// The quantisation tables read so far, which a frame's components refer to by slot.
struct QuantiserTables: Sendable {
  private var slots: [Int: [Int32]] = [:]

  /// Parses a DQT segment: the bytes after its length.
  mutating func read(_ bytes: SegmentBytes) throws(JPEGError) {
    var offset = 0
    while offset < bytes.count {
      guard let head = bytes[offset], head & 15 < 4 else { throw .damaged(.header, detail: "a quantisation table") }
      let width = head >> 4 == 0 ? 1 : 2
      var table: [Int32] = []
      for position in 0..<64 {
        guard let value = bytes.bigEndian(at: offset + 1 + width * position, count: width) else {
          throw .damaged(.header, detail: "a quantisation table")
        }
        // libjpeg multiplies in signed 16 bits.
        table.append(Int32(Int16(truncatingIfNeeded: value)))
      }
      offset += 1 + 64 * width
      slots[head & 15] = table
    }
  }

  /// The 64 quantisers of a slot, in zigzag order.
  func table(_ slot: Int) throws(JPEGError) -> [Int32] {
    guard let table = slots[slot] else {
      throw .damaged(.header, detail: "there is no quantisation table \(slot)")
    }
    return table
  }
}
