import ThumbnailCore

/// Looks whether a portable map (PNM) whose samples are text has all of them: what it lacks, libvips takes for white.
enum PortableMap {
  /// The bytes read at a time.
  private static let windowLength = 1 << 16

  /// Whether the file ends before its last sample; nil if its samples are bytes, not text.
  ///
  /// - Throws: What reading the body throws.
  static func isTruncated(_ body: ByteSource, size: PixelSize) throws -> Bool? {
    let kind = try body.read(at: 0, length: 2).last
    let samples: Int
    switch kind {
    case UInt8(ascii: "1"), UInt8(ascii: "2"): samples = size.pixelCount
    case UInt8(ascii: "3"): samples = 3 * size.pixelCount
    default: return nil
    }
    // Width and height, and of gray and colour the largest value. Bits need no space between them.
    let isBits = kind == UInt8(ascii: "1")
    let headerNumbers = isBits ? 2 : 3
    var (numbers, isInNumber, isInComment, offset) = (0, false, false, 2)
    while offset < body.count {
      let bytes = try body.read(at: offset, length: min(windowLength, body.count - offset))
      if bytes.isEmpty { break }
      offset += bytes.count
      for byte in bytes {
        if isInComment {
          isInComment = byte != UInt8(ascii: "\n")
          continue
        }
        isInComment = byte == UInt8(ascii: "#")
        let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        if isDigit, !isInNumber || isBits && numbers > headerNumbers { numbers += 1 }
        isInNumber = isDigit
      }
    }
    return numbers < headerNumbers + samples
  }
}
