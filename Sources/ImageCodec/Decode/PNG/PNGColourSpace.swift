import ThumbnailCore

/// The chunks of a PNG that define its colour space. libpng drops a profile that contradicts another of them.
struct PNGColourSpace {
  /// The longest profile that is read, in bytes.
  static let longestProfile = 1 << 20
  /// The longest keyword before a profile, in bytes.
  private static let longestKeyword = 79

  private var found: [UInt8]?
  private var seen: [PNGChunkType] = []
  /// Whether libpng may drop a profile because of another chunk.
  private var isDoubtful = false

  /// The ICC profile, if there is one.
  func profile() throws(CodecError) -> [UInt8]? {
    if found != nil && isDoubtful { throw Self.handedOver }
    return found
  }

  private static let handedOver = CodecError.handedOver(reason: "an unusual colour space of a PNG")

  /// Reads a chunk that may contradict the profile.
  mutating func readOther(_ chunks: PNGChunkReader, _ chunk: PNGChunkReader.Chunk) throws(CodecError) {
    guard !seen.contains(chunk.type), chunk.type != .standardRGB, chunk.length <= 32 else {
      isDoubtful = true
      return try chunks.skip()
    }
    seen.append(chunk.type)
    let bytes = HeaderBytes(try chunks.allData())
    let numbers = (0..<chunk.length / 4).map { bytes.bigEndian(at: $0 * 4, count: 4) ?? 0 }
    let isUsual =
      chunk.type == .gamma
      ? chunk.length == 4 && (16...625_000_000).contains(numbers[0])
      : Self.usualPrimaries.contains { Self.isNear(numbers, $0) }
    if try !chunks.finish() || !isUsual { isDoubtful = true }
  }

  /// White, red, green and blue in 1/100,000: sRGB, Adobe RGB, Display P3.
  private static let usualPrimaries = [
    [31_270, 32_900, 64_000, 33_000, 30_000, 60_000, 15_000, 6_000],
    [31_270, 32_900, 64_000, 33_000, 21_000, 71_000, 15_000, 6_000],
    [31_270, 32_900, 68_000, 32_000, 26_500, 69_000, 15_000, 6_000],
  ]

  private static func isNear(_ numbers: [Int], _ usual: [Int]) -> Bool {
    numbers.count == usual.count && zip(numbers, usual).allSatisfy { abs($0 - $1) <= 10 }
  }

  /// Reads the profile's chunk. A profile that libpng finds invalid is ignored.
  mutating func readProfile(_ chunks: PNGChunkReader) throws(CodecError) {
    guard !seen.contains(.profile) else { throw Self.handedOver }
    seen.append(.profile)
    var keyword = 0
    while try chunks.data(atMost: 1).first.map({ $0 != 0 }) ?? false { keyword += 1 }
    guard (1...Self.longestKeyword).contains(keyword), try chunks.data(atMost: 1).first == 0 else {
      throw Self.handedOver
    }
    let inflater = try PNGInflater()
    func inflated(_ count: Int) throws(CodecError) -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: count)
      var failure: CodecError?
      let filled = bytes.withUnsafeMutableBytes { target in
        do throws(CodecError) {
          return try inflater.inflate(into: target) { () throws(CodecError) in try chunks.data() }
        } catch {
          failure = error
          return 0
        }
      }
      if let failure { throw failure }
      if filled < count { throw Self.handedOver }
      return bytes
    }
    let header = try inflated(Self.headerBytes)
    if let length = Self.length(HeaderBytes(header)) {
      if length > Self.longestProfile { throw Self.handedOver }
      let all = header + (try inflated(length - Self.headerBytes))
      if Self.hasValidTags(HeaderBytes(all)) { found = all }
    }
    if try !chunks.finish() { throw Self.handedOver }
  }

  // MARK: libpng's checks

  /// The bytes of an ICC header and the number of tags.
  private static let headerBytes = 132

  /// The length of the profile that begins with these bytes; nil if libpng does not accept it.
  private static func length(_ header: HeaderBytes) -> Int? {
    guard let length = header.bigEndian(at: 0, count: 4), length >= headerBytes, let version = header[8],
      version <= 3 || length % 4 == 0, let tags = header.bigEndian(at: 128, count: 4),
      tags <= (length - headerBytes) / 12, let intent = header.bigEndian(at: 64, count: 4), intent < 0xFFFF,
      header.has("acsp", at: 36)
    else { return nil }
    return length
  }

  private static func hasValidTags(_ profile: HeaderBytes) -> Bool {
    (0..<(profile.bigEndian(at: 128, count: 4) ?? 0)).allSatisfy { tag in
      guard let start = profile.bigEndian(at: headerBytes + 12 * tag + 4, count: 4),
        let length = profile.bigEndian(at: headerBytes + 12 * tag + 8, count: 4)
      else { return false }
      return start + length <= profile.count
    }
  }
}
