import CISAL
import Foundation
import HTTPServer
import NIOCore
import ThumbnailCore

/// Sends a range of an archive whose bytes are given in order. A client that takes it slowly holds one part.
struct ZipWriter: Sendable {
  /// The bytes that are sent at once: as many as a client has to take before its deadline.
  static let partLength = 120 << 10

  let range: Range<Int>
  /// The place in the archive of what is given next.
  var position = 0
  private let send: ServerResponse.Send
  private var part = ByteBuffer()

  init(_ range: Range<Int>, send: @escaping ServerResponse.Send) { (self.range, self.send) = (range, send) }

  /// The bytes until the next part is sent, at least one.
  var room: Int { Self.partLength - part.readableBytes }

  /// The places of the next bytes that are within the range.
  func wanted(of count: Int) -> Range<Int> { (position..<position + count).clamped(to: range) }

  mutating func write(_ bytes: ByteBuffer) async throws {
    let wanted = wanted(of: bytes.readableBytes)
    let start = bytes.readerIndex + wanted.lowerBound - position
    if !wanted.isEmpty, let slice = bytes.getSlice(at: start, length: wanted.count) { part.writeImmutableBuffer(slice) }
    position += bytes.readableBytes
    if part.readableBytes >= Self.partLength { try await flush() }
  }

  /// Sends what has been written and not yet sent.
  mutating func flush() async throws {
    if part.readableBytes > 0 { try await send(part) }
    part = ByteBuffer()
  }
}

extension Checksum {
  /// The CRC-32 of zip archives.
  static func crc32(_ bytes: UnsafeRawBufferPointer, after checksum: UInt32) -> UInt32 {
    crc32_gzip_refl(checksum, bytes.bindMemory(to: UInt8.self).baseAddress, UInt64(bytes.count))
  }
}
