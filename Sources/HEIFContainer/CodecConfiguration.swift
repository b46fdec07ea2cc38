package import ThumbnailCore

/// How the chroma planes relate to luma.
package enum ChromaFormat: Sendable, Hashable {
  case none, s420, s422, s444

  /// The pixels across and down per sample of chroma.
  package var divisors: (across: Int, down: Int) {
    switch self {
    case .none, .s444: (1, 1)
    case .s422: (2, 1)
    case .s420: (2, 2)
    }
  }
}

/// The configuration before every image of an HEVC coded item (ISO/IEC 14496-15, `HEVCDecoderConfigurationRecord`).
package struct HEVCConfiguration: Sendable, Hashable {
  /// The most parameter sets that are read; encoders write three.
  private static let mostSets = 64

  package let chroma: ChromaFormat
  /// The bits of luma and of chroma.
  package let bits: (Int, Int)
  /// The bytes of the length before each unit of an item.
  package let lengthBytes: Int
  /// The video, sequence and picture parameter sets, and others: units without their lengths.
  package let parameterSets: [[UInt8]]

  init(_ content: inout BoxCursor) throws(CodecError) {
    _ = try content.take(16)
    chroma = [.none, .s420, .s422, .s444][try content.number(1) & 3]
    bits = (8 + (try content.number(1) & 7), 8 + (try content.number(1) & 7))
    _ = try content.take(2)
    lengthBytes = (try content.number(1) & 3) + 1
    var sets: [[UInt8]] = []
    for _ in 0..<(try content.number(1)) {
      _ = try content.number(1)
      for _ in 0..<(try content.number(2)) {
        guard sets.count < Self.mostSets else { throw .damaged(.header, detail: "too many parameter sets") }
        sets.append(try content.take(try content.number(2)))
      }
    }
    parameterSets = sets
  }

  /// The units in the bytes of an item, without their lengths.
  ///
  /// - Throws: `.truncated` if one is longer than the rest.
  package func units(in item: UnsafeRawBufferPointer) throws(CodecError) -> [Range<Int>] {
    var (units, position) = ([Range<Int>](), 0)
    while position < item.count {
      guard lengthBytes <= item.count - position else { throw .truncated(detail: "in a coded image") }
      var length = 0
      for index in position..<position + lengthBytes { length = length << 8 | Int(item[index]) }
      position += lengthBytes
      guard length <= item.count - position else { throw .truncated(detail: "in a coded image") }
      if length > 0 { units.append(position..<position + length) }
      position += length
    }
    return units
  }

  package static func == (one: HEVCConfiguration, other: HEVCConfiguration) -> Bool {
    one.chroma == other.chroma && one.bits == other.bits && one.lengthBytes == other.lengthBytes
      && one.parameterSets == other.parameterSets
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(parameterSets) }
}

/// The configuration of an AV1 coded item (AV1 in ISOBMFF, `AV1CodecConfigurationRecord`).
package struct AV1Configuration: Sendable, Hashable {
  package let chroma: ChromaFormat
  package let bits: Int

  init(_ content: inout BoxCursor) throws(CodecError) {
    _ = try content.take(2)
    let flags = try content.number(1)
    _ = try content.number(1)
    bits = flags & 0x40 == 0 ? 8 : flags & 0x20 == 0 ? 10 : 12
    chroma = flags & 0x10 != 0 ? .none : flags & 0x08 == 0 ? .s444 : flags & 0x04 == 0 ? .s422 : .s420
  }
}
