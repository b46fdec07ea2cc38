/// Puts an ICC profile together from its segments (APP2), which may come in any order.
struct ProfileSegments {
  /// Longer profiles are not collected.
  static let mostBytes = 4 << 20

  private var parts: [Int: [UInt8]] = [:]
  private var count: Int?
  private var isBroken = false
  private var total = 0

  /// Takes an APP2 segment: what follows its length. Others than a profile's are let pass.
  mutating func add(_ bytes: SegmentBytes) throws(JPEGError) {
    guard bytes.has("ICC_PROFILE\0"), let number = bytes[12], let of = bytes[13] else { return }
    total += bytes.count
    if total > Self.mostBytes { throw .handedOver(reason: "an ICC profile of more than \(Self.mostBytes) bytes") }
    if number == 0 || number > of || (count ?? of) != of || parts[number] != nil { isBroken = true }
    count = of
    parts[number] = Array(bytes.array[14...])
  }

  /// The profile; nil where there is none, or not all of it.
  var profile: [UInt8]? {
    guard !isBroken, let count, parts.count == count else { return nil }
    return (1...count).flatMap { parts[$0] ?? [] }
  }
}
