/// Assembles an ICC profile from its APP2 segments, in any order.
struct ProfileSegments {
  /// The longest profile collected, in bytes.
  static let mostBytes = 4 << 20

  private var parts: [Int: [UInt8]] = [:]
  private var count: Int?
  private var isBroken = false
  private var total = 0

  /// Adds an APP2 segment: the bytes after its length. Segments that hold no profile are ignored.
  mutating func add(_ bytes: SegmentBytes) throws(JPEGError) {
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
