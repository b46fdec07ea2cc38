import FoundationEssentials
import Glibc

/// The bytes of one source image: small bodies in memory, larger ones in an unnamed spill file.
package enum ByteSource: Sendable {
  /// The whole body in memory.
  case memory([UInt8])
  /// The first `count` bytes of an open file.
  case file(FileDescriptor, count: Int)
  /// Some bytes of an open file: a JPEG embedded in it.
  case part(FileDescriptor, Range<Int>)

  /// The length of the body in bytes.
  package var count: Int {
    switch self {
    case .memory(let bytes): bytes.count
    case .file(_, let count): count
    case .part(_, let range): range.count
    }
  }

  /// Whether the bytes are in a file that holds a reservation of memory (`memfd`).
  package var isFileInMemory: Bool {
    switch self {
    case .memory: false
    case .file(let file, _), .part(let file, _): file.holdsMemory
    }
  }

  /// The existing bytes in `range`. Bytes of a file stay in it.
  package func part(_ range: Range<Int>) -> ByteSource {
    let there = range.clamped(to: 0..<count)
    switch self {
    case .memory(let bytes): return .memory(Array(bytes[there]))
    case .file(let file, _): return .part(file, there)
    case .part(let file, let whole):
      return .part(file, whole.lowerBound + there.lowerBound..<whole.lowerBound + there.upperBound)
    }
  }

  /// Copies up to `length` bytes from `offset`; fewer at the end of the body.
  ///
  /// - Throws: `POSIXError` when the file cannot be read.
  package func read(at offset: Int, length: Int) throws -> [UInt8] {
    let wanted = max(0, min(length, count - offset))
    return try [UInt8](unsafeUninitializedCapacity: wanted) { buffer, filled in
      filled = try read(
        at: offset, into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<wanted]))
    }
  }

  /// Copies bytes from `offset` into a buffer until it is full or the body ends, and returns the number copied.
  ///
  /// - Throws: `POSIXError` when the file cannot be read.
  package func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    let wanted = max(0, min(buffer.count, count - offset))
    switch self {
    case .memory(let bytes):
      if wanted > 0 { buffer.copyBytes(from: bytes[offset..<offset + wanted]) }
      return wanted
    case .file(let file, _): return try Self.read(file, at: offset, wanted, into: buffer)
    case .part(let file, let range): return try Self.read(file, at: range.lowerBound + offset, wanted, into: buffer)
    }
  }

  private static func read(
    _ file: FileDescriptor, at offset: Int, _ wanted: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws -> Int {
    var filled = 0
    while filled < wanted {
      let got = pread(file.rawValue, buffer.baseAddress.map { $0 + filled }, wanted - filled, off_t(offset + filled))
      if got < 0 {
        if errno == EINTR { continue }
        throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
      }
      if got == 0 { break }
      filled += got
    }
    return filled
  }
}

extension ByteSource {
  /// Up to `length` bytes from `offset`; fewer at the end of the body.
  package func bytes(at offset: Int, length: Int) throws(CodecError) -> [UInt8] {
    do { return try read(at: offset, length: length) } catch { throw .unreadableBody(detail: "\(error)") }
  }

  /// Copies bytes from `offset` until a buffer is full or the body ends, and returns their number.
  package func copy(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(CodecError) -> Int {
    do { return try read(at: offset, into: buffer) } catch { throw .unreadableBody(detail: "\(error)") }
  }
}

/// Sets of positions in a file.
extension RangeSet<Int> {
  /// Overlapping and adjacent ranges become one.
  package init(_ ranges: [Range<Int>]) {
    self.init()
    // In order, each is appended.
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) { insert(contentsOf: range) }
  }

  /// The end of the last range; 0 if there is none.
  package var upperBound: Int { ranges.last?.upperBound ?? 0 }

  /// The number of positions.
  package var byteCount: Int { ranges.reduce(0) { $0 + $1.count } }
}
