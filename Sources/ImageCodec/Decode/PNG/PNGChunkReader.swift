import CISAL
import ThumbnailCore

/// The four letters of a chunk's type, as a big-endian number.
struct PNGChunkType: Equatable, CustomStringConvertible {
  let code: UInt32

  init(_ code: UInt32) { self.code = code }

  private init(_ name: StaticString) {
    code = name.withUTF8Buffer { $0.reduce(0) { $0 << 8 | UInt32($1) } }
  }

  static let header = PNGChunkType("IHDR")
  static let palette = PNGChunkType("PLTE")
  static let transparency = PNGChunkType("tRNS")
  static let profile = PNGChunkType("iCCP")
  static let standardRGB = PNGChunkType("sRGB")
  static let gamma = PNGChunkType("gAMA")
  static let chromaticities = PNGChunkType("cHRM")
  static let data = PNGChunkType("IDAT")

  private var bytes: [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: code >> $0) } }

  /// Whether a decoder that does not know the chunk must refuse the image.
  var isCritical: Bool { code & 0x2000_0000 == 0 }
  /// Whether all four are letters.
  var isValid: Bool { bytes.allSatisfy { (65...90).contains($0) || (97...122).contains($0) } }
  var description: String { String(decoding: bytes, as: UTF8.self) }
}

/// Reads a PNG's chunks one after the other, through a window of its body.
final class PNGChunkReader {
  struct Chunk {
    let type: PNGChunkType
    /// The bytes of data.
    let length: Int
  }

  /// The size of the window in bytes.
  static let windowBytes = 65_536
  private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  private let body: ByteSource
  /// Owned; its first `windowCount` bytes are the body's from `windowStart` on.
  private let window = UnsafeMutableRawBufferPointer.allocate(byteCount: windowBytes, alignment: 16)
  private var windowStart = 0
  private var windowCount = 0
  /// The offset of the next byte to read.
  private var position = 0
  /// The bytes of the current chunk's data that have not been read.
  private(set) var remaining = 0
  /// The CRC of the part of the current chunk that has been read.
  private var crc: UInt32 = 0

  init(_ body: ByteSource) { self.body = body }

  deinit { window.deallocate() }

  /// Reads the eight bytes that every PNG begins with.
  func readSignature() throws(CodecError) {
    for byte in Self.signature where try take(1)[0] != byte {
      throw .damaged(.header, detail: "the signature is damaged")
    }
  }

  /// Reads the length and the type of the next chunk. The current one must be finished or skipped.
  func next() throws(CodecError) -> Chunk {
    let (length, code) = (try number(), try number())
    let type = PNGChunkType(code)
    guard length < 1 << 31, type.isValid else { throw .damaged(.decode, detail: "no chunk where one should begin") }
    remaining = Int(length)
    crc = withUnsafeBytes(of: code.bigEndian) { Self.crc(0, $0) }
    return Chunk(type: type, length: remaining)
  }

  /// The next bytes of the current chunk's data: at least one, at most `count`, none at its end. Valid until the next
  /// call.
  func data(atMost count: Int = .max) throws(CodecError) -> UnsafeRawBufferPointer {
    guard remaining > 0 else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    let bytes = try take(min(count, remaining))
    remaining -= bytes.count
    crc = Self.crc(crc, bytes)
    return bytes
  }

  /// All data of a short chunk.
  func allData() throws(CodecError) -> [UInt8] {
    var all: [UInt8] = []
    while remaining > 0 { all += try data() }
    return all
  }

  /// Reads the rest of the chunk, and returns whether its CRC is right.
  func finish() throws(CodecError) -> Bool {
    while remaining > 0 { _ = try data() }
    let wanted = crc
    return try number() == wanted
  }

  /// Skips the rest of the chunk and its CRC unread.
  func skip() throws(CodecError) {
    position += remaining + 4
    remaining = 0
    if position > body.count { throw Self.truncated }
  }

  private static let truncated = CodecError.truncated(detail: "in a chunk")

  static func crc(_ crc: UInt32, _ bytes: UnsafeRawBufferPointer) -> UInt32 {
    crc32_gzip_refl(crc, bytes.bindMemory(to: UInt8.self).baseAddress, UInt64(bytes.count))
  }

  private func number() throws(CodecError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 { value = value << 8 | UInt32(try take(1)[0]) }
    return value
  }

  /// The next bytes of the body: at least one, at most `count`, which must not be 0.
  private func take(_ count: Int) throws(CodecError) -> UnsafeRawBufferPointer {
    if position < windowStart || position >= windowStart + windowCount {
      windowStart = position
      windowCount = 0
      windowCount = try body.copy(at: position, into: window)
      if windowCount == 0 { throw Self.truncated }
    }
    let start = position - windowStart
    let taken = min(count, windowCount - start)
    position += taken
    return UnsafeRawBufferPointer(rebasing: window[start..<start + taken])
  }
}
