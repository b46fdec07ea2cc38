@testable import CodecTestSupport
@testable import ImageCodec
@testable import ThumbnailCore

/// A PNG made chunk by chunk, its pixels in deflate's stored blocks.
struct TestPNG {
  typealias Chunk = (type: String, data: [UInt8])

  var size: PixelSize
  /// As in the header: 0 gray, 2 RGB, 3 palette, 4 gray and alpha, 6 RGB and alpha.
  var colour = 2
  var depth = 8
  var interlace: UInt8 = 0
  /// The chunks between the header and the pixels.
  var chunks: [Chunk] = []
  /// Filter bytes and filtered rows.
  var stored: [UInt8] = []
  /// The lengths of the chunks of pixels, repeated; all in one if empty.
  var pieces: [Int] = []
  var ending: [Chunk] = [("IEND", [])]

  static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
  /// All combinations of colour and depth.
  static let kinds = [
    (0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (2, 8), (2, 16), (3, 1), (3, 2), (3, 4), (3, 8), (4, 8), (4, 16), (6, 8),
    (6, 16),
  ]

  /// An image of random bytes, which are valid under any filter. `filters` are repeated row by row.
  init(_ width: Int, _ height: Int, colour: Int, depth: Int, filters: [UInt8], seed: UInt64 = 1) {
    size = PixelSize(width, height)
    (self.colour, self.depth) = (colour, depth)
    var random = SplitMix(state: seed)
    let samples = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][colour] ?? 1
    for row in 0..<height {
      stored.append(filters[row % filters.count])
      for _ in 0..<(width * samples * depth + 7) / 8 { stored.append(.random(in: 0...255, using: &random)) }
    }
    if colour == 3 { chunks = [("PLTE", Self.palette(min(1 << depth, 200)))] }
  }

  /// Colours that are all different.
  static func palette(_ count: Int) -> [UInt8] {
    var colours: [UInt8] = []
    for index in 0..<count { colours += [UInt8(index), UInt8(255 - index), UInt8(index * 7 % 256)] }
    return colours
  }

  static func long(_ number: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }

  static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
    let named = Array(type.utf8) + data
    return long(data.count) + named + long(Int(crc(named)))
  }

  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
  }

  static func crc(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(~0) { crc, byte in table[Int((crc ^ UInt32(byte)) & 255)] ^ crc >> 8 }
  }

  /// A zlib stream of stored blocks.
  static func zlib(_ bytes: [UInt8]) -> [UInt8] {
    var stream: [UInt8] = [0x78, 0x01]
    var start = 0
    repeat {
      let count = min(bytes.count - start, 65_535)
      let isLast: UInt8 = start + count == bytes.count ? 1 : 0
      let (low, high) = (UInt8(count & 255), UInt8(count >> 8))
      stream += [isLast, low, high, ~low, ~high] + bytes[start..<start + count]
      start += count
    } while start < bytes.count
    let sums = bytes.reduce((1, 0)) { sums, byte in
      let first = (sums.0 + Int(byte)) % 65_521
      return (first, (sums.1 + first) % 65_521)
    }
    return stream + long(sums.1 << 16 | sums.0)
  }

  var header: Chunk {
    ("IHDR", Self.long(size.width) + Self.long(size.height) + [UInt8(depth), UInt8(colour), 0, 0, interlace])
  }

  /// The chunks of pixels.
  func pixels(_ stream: [UInt8]) -> [Chunk] {
    if pieces.isEmpty { return [("IDAT", stream)] }
    var (result, start, index): ([Chunk], Int, Int) = ([], 0, 0)
    while start < stream.count {
      let count = min(pieces[index % pieces.count], stream.count - start)
      result.append(("IDAT", Array(stream[start..<start + count])))
      (start, index) = (start + count, index + 1)
    }
    return result
  }

  func bytes(stream: [UInt8]? = nil) -> [UInt8] {
    let all = [header] + chunks + pixels(stream ?? Self.zlib(stored)) + ending
    return Self.signature + all.flatMap { Self.chunk($0.type, $0.data) }
  }

  /// The chunks of a file.
  static func parse(_ file: [UInt8]) -> [Chunk] {
    var (result, position): ([Chunk], Int) = ([], 8)
    while position + 12 <= file.count {
      let length = file[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
      guard position + 12 + length <= file.count else { break }
      let type = String(decoding: file[position + 4..<position + 8], as: UTF8.self)
      result.append((type, Array(file[position + 8..<position + 8 + length])))
      position += 12 + length
    }
    return result
  }
}

/// All rows of a PNG, however they were decoded.
struct PNGRows: Equatable {
  let rows: SourceRows
  let profile: [UInt8]?

  /// What our decoder reads.
  init(_ body: ByteSource, probe: ImageProbe? = nil) throws(CodecError) {
    let found = if let probe { probe } else { try ImageCodec.probe(body) }
    let source = try PNGRowSource(body, probe: found)
    (rows, profile) = (try SourceRows(source), source.layout.profile)
  }

  /// What libvips reads.
  init(libvips file: [UInt8]) throws {
    try Codec.start()
    let image = try BodyReader(.memory(file), cancellation: CancellationFlag()).load(.png, VIPS_FAIL_ON_ERROR)
    (rows, profile) = (try SourceRows(image), image.profile)
  }
}
