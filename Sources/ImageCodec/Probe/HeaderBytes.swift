/// Some bytes of a header. Reading past the end returns nil instead of trapping.
struct HeaderBytes: Sendable {
  private var bytes: [UInt8]

  init(_ bytes: [UInt8] = []) { self.bytes = bytes }

  var count: Int { bytes.count }
  var array: [UInt8] { bytes }

  subscript(index: Int) -> Int? { index >= 0 && index < bytes.count ? Int(bytes[index]) : nil }

  /// A big-endian unsigned number of up to 7 bytes.
  func bigEndian(at index: Int, count: Int) -> Int? { number(at: index, count: count, isBigEndian: true) }

  /// A little-endian unsigned number of up to 7 bytes.
  func littleEndian(at index: Int, count: Int) -> Int? { number(at: index, count: count, isBigEndian: false) }

  /// An unsigned number of up to 7 bytes.
  func number(at index: Int, count: Int, isBigEndian: Bool) -> Int? {
    guard index >= 0, count <= 7, index <= bytes.count - count else { return nil }
    var value = 0
    for place in 0..<count { value = value << 8 | Int(bytes[index + (isBigEndian ? place : count - 1 - place)]) }
    return value
  }

  /// Whether the ASCII text is at `index`.
  func has(_ text: StaticString, at index: Int = 0) -> Bool {
    text.withUTF8Buffer { wanted in
      index >= 0 && index <= bytes.count - wanted.count
        && bytes[index..<index + wanted.count].elementsEqual(wanted)
    }
  }

  /// Whether these bytes are at `index`.
  func has(_ wanted: [UInt8], at index: Int = 0) -> Bool {
    index >= 0 && index <= bytes.count - wanted.count && bytes[index..<index + wanted.count].elementsEqual(wanted)
  }

  /// The existing bytes in `range`.
  func slice(_ range: Range<Int>) -> HeaderBytes {
    HeaderBytes(Array(bytes[range.clamped(to: 0..<bytes.count)]))
  }

  mutating func append(_ more: UnsafeRawBufferPointer) { bytes.append(contentsOf: more) }

  mutating func removeFirst(_ count: Int) {
    if count >= bytes.count { bytes.removeAll(keepingCapacity: true) } else { bytes.removeFirst(count) }
  }

  mutating func release() { bytes = [] }
}
