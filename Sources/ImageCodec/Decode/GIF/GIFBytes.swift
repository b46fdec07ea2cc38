import ThumbnailCore

/// Reads a GIF from the front to the back, by windows of 32 KiB.
final class GIFBytes {
  private static let window = 32_768

  private let body: ByteSource
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: window, alignment: 16)
  /// The offset in the body of the first byte of the buffer.
  private var start: Int
  /// The next byte in the buffer, and the number of bytes in it: `next <= filled <= buffer.count`.
  private var next = 0
  private var filled = 0

  init(_ body: ByteSource, at offset: Int = 0) { (self.body, start) = (body, offset) }

  deinit { buffer.deallocate() }

  /// The offset in the body of the next byte.
  var position: Int { start + next }

  /// Reads one byte.
  ///
  /// - Throws: `.truncated` at the end of the body, `.unreadableBody`.
  func byte() throws(CodecError) -> Int {
    if next == filled { try fill() }
    defer { next += 1 }
    return Int(buffer[next])
  }

  /// Reads a little-endian number of two bytes.
  func word() throws(CodecError) -> Int { try byte() | byte() << 8 }

  /// Skips bytes, also beyond the end of the body.
  func skip(_ count: Int) {
    if count <= filled - next {
      next += count
    } else {
      (start, next, filled) = (position + count, 0, 0)
    }
  }

  /// Skips sub-blocks up to and including the empty one that ends them.
  func skipSubBlocks() throws(CodecError) {
    while true {
      let length = try byte()
      if length == 0 { return }
      skip(length)
    }
  }

  /// Copies `target.count` bytes.
  func copy(into target: UnsafeMutableRawBufferPointer) throws(CodecError) {
    var done = 0
    while done < target.count {
      if next == filled { try fill() }
      let count = min(target.count - done, filled - next)
      // Both ranges are within their buffers: neither has fewer than `count` bytes left.
      UnsafeMutableRawBufferPointer(rebasing: target[done..<done + count])
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[next..<next + count]))
      (done, next) = (done + count, next + count)
    }
  }

  /// Reads the next window, of at least one byte.
  private func fill() throws(CodecError) {
    start = position
    (next, filled) = (0, 0)
    filled = try body.copy(at: start, into: buffer)
    if filled == 0 { throw .truncated(detail: "after \(body.count) bytes") }
  }
}
