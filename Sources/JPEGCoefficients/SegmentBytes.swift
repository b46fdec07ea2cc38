/// The contents of a segment, with bounds-checked access.
struct SegmentBytes: Sendable {
  let array: [UInt8]

  init(_ array: [UInt8]) { self.array = array }

  var count: Int { array.count }

  /// A byte; nil beyond the end.
  subscript(index: Int) -> Int? { array.indices.contains(index) ? Int(array[index]) : nil }

  /// A big-endian unsigned number of 1 or 2 bytes; nil beyond the end.
  func bigEndian(at index: Int, count: Int) -> Int? {
    guard index >= 0, index <= array.count - count else { return nil }
    return array[index..<index + count].reduce(0) { $0 << 8 | Int($1) }
  }

  /// Whether the contents start with the ASCII text.
  func has(_ text: StaticString) -> Bool { text.withUTF8Buffer { array.starts(with: $0) } }

  /// The bytes in `range`, clipped to the contents.
  func slice(_ range: Range<Int>) -> [UInt8] { Array(array[range.clamped(to: 0..<array.count)]) }
}
