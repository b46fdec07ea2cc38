/// The contents of a segment, read without ever going beyond their end.
struct SegmentBytes: Sendable {
  let array: [UInt8]

  init(_ array: [UInt8]) { self.array = array }

  var count: Int { array.count }

  /// A byte; nil beyond the end.
  subscript(index: Int) -> Int? { array.indices.contains(index) ? Int(array[index]) : nil }

  /// An unsigned number of 1 or 2 bytes, most significant first; nil beyond the end.
  func bigEndian(at index: Int, count: Int) -> Int? {
    guard index >= 0, index <= array.count - count else { return nil }
    return array[index..<index + count].reduce(0) { $0 << 8 | Int($1) }
  }

  /// Whether the ASCII text stands at the beginning.
  func has(_ text: StaticString) -> Bool { text.withUTF8Buffer { array.starts(with: $0) } }

  /// The bytes from `range`, clipped to what is there.
  func slice(_ range: Range<Int>) -> [UInt8] { Array(array[range.clamped(to: 0..<array.count)]) }
}
