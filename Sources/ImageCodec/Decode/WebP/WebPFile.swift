import ThumbnailCore

/// The bytes of a WebP file, held until libwebp has decoded them, and its chunks.
final class WebPFile {
  /// The bytes of the RIFF container; what follows it is ignored.
  let bytes: UnsafeBufferPointer<UInt8>
  /// Owns `bytes`.
  private let storage: UnsafeMutableRawBufferPointer

  /// Reads the whole file.
  ///
  /// - Throws: `.truncated` if the container is longer than the file, `.unreadableBody`.
  init(_ body: ByteSource) throws(CodecError) {
    let header = HeaderBytes(try body.bytes(at: 0, length: 12))
    guard let length = header.littleEndian(at: 4, count: 4), header.count == 12 else {
      throw .truncated(detail: "in the header")
    }
    guard 8 + length <= body.count else { throw .truncated(detail: "\(body.count) of \(8 + length) bytes") }
    storage = .allocate(byteCount: 8 + length, alignment: 16)
    bytes = UnsafeBufferPointer(storage.bindMemory(to: UInt8.self))
    let filled = try body.copy(at: 0, into: storage)
    guard filled == storage.count else { throw .truncated(detail: "\(filled) of \(storage.count) bytes") }
  }

  deinit { storage.deallocate() }

  /// The ICC profile, if the extended header declares one.
  var profile: [UInt8]? {
    guard has("VP8X", at: 12), bytes.count > 20, bytes[20] & 0x20 != 0,
      let chunk = chunks.first(where: { has("ICCP", at: $0.lowerBound) })
    else { return nil }
    return Array(bytes[chunk].dropFirst(8))
  }

  /// The chunks of the image: separate alpha, if there is any, and the pixels. Otherwise libwebp would read a damaged
  /// image on into the following chunks.
  var image: UnsafeBufferPointer<UInt8>? {
    let chunks = chunks
    guard
      let last = chunks.firstIndex(where: { has("VP8 ", at: $0.lowerBound) || has("VP8L", at: $0.lowerBound) })
    else { return nil }
    let first = chunks[..<last].firstIndex { has("ALPH", at: $0.lowerBound) } ?? last
    let end = min(bytes.count, chunks[last].upperBound + chunks[last].count & 1)
    return UnsafeBufferPointer(rebasing: bytes[chunks[first].lowerBound..<end])
  }

  /// Whether the chunks of an extended file fill it exactly, as libwebp's demultiplexer demands.
  var isWellFormed: Bool {
    guard has("VP8X", at: 12), let last = chunks.last else { return true }
    return last.upperBound + last.count & 1 == bytes.count
  }

  /// The chunks that are whole, headers of eight bytes included.
  private var chunks: [Range<Int>] {
    var (found, place) = ([Range<Int>](), 12)
    while place + 8 <= bytes.count {
      let length = (0..<4).reduce(8) { $0 + Int(bytes[place + 4 + $1]) << (8 * $1) }
      guard place + length <= bytes.count else { break }
      found.append(place..<place + length)
      place += length + length & 1
    }
    return found
  }

  private func has(_ tag: String, at place: Int) -> Bool {
    place + 4 <= bytes.count && bytes[place..<place + 4].elementsEqual(tag.utf8)
  }
}
