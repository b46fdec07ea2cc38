package import ThumbnailCore

/// A sequence parameter set of HEVC, which describes the pictures after it (ITU-T H.265, 7.3.2.2).
package struct HEVCSequence: Sendable, Equatable {
  /// The size that the decoder allocates, in pixels: before the conformance window is cut.
  package let size: PixelSize

  /// The kind of the unit that holds one.
  private static let unitKind = 33
  /// The bits of the levels and profile that precede a sequence's own, and of each layer that has them.
  private static let (profileBits, layerProfileBits, layerLevelBits) = (96, 88, 8)
  /// The bytes that hold all fields that are read.
  private static let mostBytes = 256

  /// Parses a unit; nil if it is of another kind.
  ///
  /// - Throws: `.truncated`, `.damaged` for numbers of more than 32 bits.
  package init?(unit: some Collection<UInt8>) throws(CodecError) {
    guard let first = unit.first, Int(first) >> 1 & 0x3F == Self.unitKind else { return nil }
    var bits = BitCursor(escaped: unit.dropFirst(2).prefix(Self.mostBytes))
    try bits.skip(4)
    let layers = try bits.number(3)
    try bits.skip(1 + Self.profileBits)
    var (profiles, levels) = (0, 0)
    for _ in 0..<layers {
      profiles += try bits.number(1)
      levels += try bits.number(1)
    }
    if layers > 0 { try bits.skip(2 * (8 - layers)) }
    try bits.skip(profiles * Self.layerProfileBits + levels * Self.layerLevelBits)
    _ = try bits.golomb()
    if try bits.golomb() == 3 { try bits.skip(1) }
    size = PixelSize(try bits.golomb(), try bits.golomb())
  }
}

/// Reads bits of a unit from the first, without the bytes that keep start codes out of it.
private struct BitCursor {
  private var bytes: [UInt8] = []
  private var position = 0

  init(escaped: some Sequence<UInt8>) {
    var zeros = 0
    for byte in escaped {
      if zeros >= 2, byte == 3 {
        zeros = 0
        continue
      }
      zeros = byte == 0 ? zeros + 1 : 0
      bytes.append(byte)
    }
  }

  mutating func skip(_ count: Int) throws(CodecError) {
    guard position + count <= 8 * bytes.count else { throw .truncated(detail: "in a parameter set") }
    position += count
  }

  mutating func number(_ count: Int) throws(CodecError) -> Int {
    let start = position
    try skip(count)
    return (start..<position).reduce(0) { number, position in
      let bit = bytes[position >> 3] >> UInt8(7 - position & 7) & 1
      return number << 1 | Int(bit)
    }
  }

  /// A number in Exponential-Golomb code.
  mutating func golomb() throws(CodecError) -> Int {
    var zeros = 0
    while try number(1) == 0 {
      zeros += 1
      guard zeros <= 32 else { throw .damaged(.header, detail: "a parameter set") }
    }
    return (1 << zeros) - 1 + (try number(zeros))
  }
}
