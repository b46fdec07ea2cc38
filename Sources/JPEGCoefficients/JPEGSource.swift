package import ThumbnailCore

/// Random access to the bytes of a JPEG, in memory or in a file.
package protocol JPEGSource: Sendable {
  /// The length in bytes.
  var count: Int { get }

  /// Copies bytes from `offset` into a buffer until it is full or the file ends, and returns how many.
  func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int

  /// Calls `body` with all the bytes if they are in memory, else with nil.
  func withMemory<Value>(
    _ body: (UnsafeRawBufferPointer?) throws(JPEGError) -> Value
  ) throws(JPEGError) -> Value
}

extension JPEGSource {
  /// Reads up to `length` bytes from `offset`; fewer if the file ends first.
  func bytes(at offset: Int, length: Int) throws -> [UInt8] {
    let wanted = max(0, min(length, count - offset))
    return try [UInt8](unsafeUninitializedCapacity: wanted) { buffer, filled in
      filled = try read(
        at: offset, into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<wanted]))
    }
  }
}

extension ByteSource: JPEGSource {
  package func withMemory<Value>(
    _ body: (UnsafeRawBufferPointer?) throws(JPEGError) -> Value
  ) throws(JPEGError) -> Value {
    guard case .memory(let bytes) = self else { return try body(nil) }
    return try bytes.withUnsafeBytes { memory in Result { () throws(JPEGError) in try body(memory) } }.get()
  }
}

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
