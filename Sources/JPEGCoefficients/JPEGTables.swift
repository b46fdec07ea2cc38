import ThumbnailCore

/// The quantisation and Huffman tables read so far, which scans refer to by slot.
struct JPEGTables {
  /// A Huffman table's slot; the lookup table is built when a scan first uses it.
  private struct Slot {
    var code: HuffmanCode
    var ready: HuffmanTable?
  }

  var quantisers = QuantiserTables()
  private var dc: [Int: Slot] = [:]
  private var ac: [Int: Slot] = [:]
  /// The number of MCUs between two restart markers; 0 for none.
  private(set) var restartInterval = 0

  /// Parses a DHT segment: the bytes after its length.
  mutating func readHuffmanCodes(_ bytes: SegmentBytes) throws(CodecError) {
    var offset = 0
    while offset < bytes.count {
      let counts = bytes.slice(offset + 1..<offset + 17)
      let total = counts.reduce(0) { $0 + Int($1) }
      let symbols = bytes.slice(offset + 17..<offset + 17 + total)
      guard let head = bytes[offset], head & 0xEF < 4, counts.count == 16, total <= 256, symbols.count == total else {
        throw .damaged(.header, detail: "a Huffman table")
      }
      let slot = Slot(code: HuffmanCode(counts: counts, symbols: symbols))
      if head & 0x10 == 0 { dc[head] = slot } else { ac[head & 15] = slot }
      offset += 17 + total
    }
  }

  /// Parses a DRI segment: the bytes after its length.
  mutating func readRestartInterval(_ bytes: SegmentBytes) throws(CodecError) {
    guard bytes.count == 2, let interval = bytes.bigEndian(at: 0, count: 2) else {
      throw .damaged(.header, detail: "the restart interval")
    }
    restartInterval = interval
  }

  /// The lookup table of a Huffman slot.
  mutating func huffman(
    _ slot: Int, _ use: HuffmanCode.Use, isProgressive: Bool
  ) throws(CodecError) -> HuffmanTable {
    guard let found = use == .dc ? dc[slot] : ac[slot] else {
      // libjpeg then uses the standard's example tables, as Motion JPEG requires.
      throw .handedOver(reason: "there is no Huffman table \(slot)")
    }
    if let ready = found.ready { return ready }
    guard let table = HuffmanTable.shared(found.code, use: use, isProgressive: isProgressive) else {
      throw .damaged(.header, detail: "a Huffman table does not add up")
    }
    if use == .dc { dc[slot]?.ready = table } else { ac[slot]?.ready = table }
    return table
  }
}

/// The quantisation tables read so far, which a frame's components refer to by slot.
struct QuantiserTables: Sendable {
  private var slots: [Int: [Int32]] = [:]

  /// Parses a DQT segment: the bytes after its length.
  mutating func read(_ bytes: SegmentBytes) throws(CodecError) {
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
  func table(_ slot: Int) throws(CodecError) -> [Int32] {
    guard let table = slots[slot] else {
      throw .damaged(.header, detail: "there is no quantisation table \(slot)")
    }
    return table
  }
}
