/// A scan header (SOS), which names the coefficients that follow.
struct JPEGScan: Sendable, Equatable {
  /// The identifiers of its components, in header order.
  var components: [UInt8]
  /// The first and last zigzag position (Ss, Se): 0 and 63 in a sequential file.
  var positions: ClosedRange<Int>
  /// The bit position of the scan that this one refines; 0 for a first scan (Ah).
  var previousBit = 0
  /// The bit position that this scan is exact to (Al).
  var bit = 0

  /// Parses a scan header: the bytes after the segment's length.
  ///
  /// Nil if it is invalid: no components or more than four, a length that does not match, a reversed range.
  init?(_ bytes: SegmentBytes) {
    guard let count = bytes[0], (1...4).contains(count), bytes.count == 4 + 2 * count,
      let first = bytes[1 + 2 * count], let last = bytes[2 + 2 * count], let bits = bytes[3 + 2 * count],
      first <= last, last <= 63
    else { return nil }
    components = (0..<count).compactMap { bytes[1 + 2 * $0].map { UInt8($0) } }
    positions = first...last
    (previousBit, bit) = (bits >> 4, bits & 15)
  }

  init(components: [UInt8], positions: ClosedRange<Int>, previousBit: Int = 0, bit: Int = 0) {
    self.components = components
    self.positions = positions
    self.previousBit = previousBit
    self.bit = bit
  }
}
