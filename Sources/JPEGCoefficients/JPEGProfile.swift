import ThumbnailCore

/// Reads the ICC profile of a JPEG, without its pixels.
package enum JPEGProfile {
  /// More segments than any encoder writes before the first scan.
  private static let mostSegments = 10_000

  /// The profile in the segments before the first scan. Nil if there is none, if parts of it are missing or damaged, or
  /// if it is longer than any real profile, because no memory is reserved for it.
  package static func read(_ body: any JPEGSource) -> [UInt8]? { try? find(body) }

  private static func find(_ body: any JPEGSource) throws(CodecError) -> [UInt8]? {
    var cursor = BodyCursor(body, windowLength: CoefficientDecoder.windowLength)
    var segments = ProfileSegments()
    for _ in 0..<mostSegments {
      guard let marker = try cursor.takeMarker() else { return nil }
      switch marker {
      case 0x01, 0xD0...0xD8: continue
      case 0xD9, 0xDA: return segments.profile
      default: break
      }
      guard let length = try cursor.takeUInt16(), length >= 2 else { return nil }
      if marker == 0xE2 { try segments.add(SegmentBytes(try cursor.take(length - 2))) } else { cursor.skip(length - 2) }
    }
    return nil
  }
}

/// Assembles an ICC profile from its APP2 segments, in any order.
struct ProfileSegments {
  /// The longest profile collected, in bytes.
  static let mostBytes = 4 << 20

  private var parts: [Int: [UInt8]] = [:]
  private var count: Int?
  private var isBroken = false
  private var total = 0

  /// Adds an APP2 segment: the bytes after its length. Segments that hold no profile are ignored.
  mutating func add(_ bytes: SegmentBytes) throws(CodecError) {
    guard bytes.has("ICC_PROFILE\0"), let number = bytes[12], let of = bytes[13] else { return }
    total += bytes.count
    if total > Self.mostBytes { throw .handedOver(reason: "an ICC profile of more than \(Self.mostBytes) bytes") }
    if number == 0 || number > of || (count ?? of) != of || parts[number] != nil { isBroken = true }
    count = of
    parts[number] = Array(bytes.array[14...])
  }

  /// The profile; nil if there is none or parts are missing.
  var profile: [UInt8]? {
    guard !isBroken, let count, parts.count == count else { return nil }
    return (1...count).flatMap { parts[$0] ?? [] }
  }
}
