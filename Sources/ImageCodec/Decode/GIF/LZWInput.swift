import ThumbnailCore

/// The LZW codes of a GIF frame without the lengths of their sub-blocks, in a buffer of 16 KiB that is followed by zeros
/// at the end of the data.
struct LZWInput: ~Copyable {
  private static let capacity = 16_384
  /// The zeros after the last byte, so that codes can be loaded up to it.
  private static let padding = 8

  let bytes: GIFBytes
  /// `capacity + padding` bytes.
  let start = UnsafeMutableRawPointer.allocate(byteCount: capacity + padding, alignment: 16)
  /// The bytes in the buffer, without the zeros.
  private var filled = 0
  /// The bytes of the current sub-block that are still to be read.
  private var left = 0
  private(set) var isAtEnd = false

  init(_ bytes: GIFBytes) { self.bytes = bytes }

  deinit { start.deallocate() }

  /// The last offset from which four bytes may be loaded; less than 0 before the first refill.
  var lastOffset: Int { isAtEnd ? filled + Self.padding - 4 : filled - 4 }

  /// Codes must end before this bit: libnsgif requires a byte after a code, so a code that ends with the last byte does
  /// not count.
  var bitLimit: Int { isAtEnd ? filled * 8 : .max }

  /// Drops the first `used` bytes, and fills the buffer. `used` must not exceed their number. Reads nothing after
  /// the end.
  ///
  /// - Throws: `.truncated` if the file ends within the sub-blocks, `.unreadableBody`.
  mutating func refill(dropping used: Int) throws(CodecError) {
    filled -= used
    start.copyMemory(from: start + used, byteCount: filled)
    while filled < Self.capacity, !isAtEnd {
      if left == 0 { left = try bytes.byte() }
      if left == 0 {
        isAtEnd = true
        (start + filled).initializeMemory(as: UInt8.self, repeating: 0, count: Self.padding)
        break
      }
      let count = min(left, Self.capacity - filled)
      try bytes.copy(into: UnsafeMutableRawBufferPointer(start: start + filled, count: count))
      (filled, left) = (filled + count, left - count)
    }
  }

  /// Reads up to the empty sub-block that ends the data.
  ///
  /// - Throws: `.truncated` if it is missing, `.unreadableBody`.
  mutating func finish() throws(CodecError) {
    if isAtEnd { return }
    bytes.skip(left)
    try bytes.skipSubBlocks()
    isAtEnd = true
  }
}
