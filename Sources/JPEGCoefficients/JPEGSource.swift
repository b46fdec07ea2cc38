package import ThumbnailCore

/// Random access to the bytes of a JPEG, in memory or in a file.
package protocol JPEGSource: Sendable {
  /// The length in bytes.
  var count: Int { get }

  /// Copies bytes from `offset` into a buffer until it is full or the file ends, and returns how many.
  func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int

  /// Reads up to `length` bytes from `offset`; fewer if the file ends first.
  func read(at offset: Int, length: Int) throws -> [UInt8]

  /// Calls `body` with all the bytes if they are in memory, else with nil.
  func withMemory<Value>(
    _ body: (UnsafeRawBufferPointer?) throws(CodecError) -> Value
  ) throws(CodecError) -> Value
}

extension ByteSource: JPEGSource {
  package func withMemory<Value>(
    _ body: (UnsafeRawBufferPointer?) throws(CodecError) -> Value
  ) throws(CodecError) -> Value {
    guard case .memory(let bytes) = self else { return try body(nil) }
    return try bytes.withUnsafeBytes { memory in Result { () throws(CodecError) in try body(memory) } }.get()
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

/// The scale at which the coefficient decoder decodes a JPEG.
package enum JPEGScale: Int, Sendable, Comparable {
  /// One pixel per 8×8 block: for luma the DC coefficient only.
  case eighth = 8
  /// 2×2 pixels per block: of luma its 2×2 coefficients of lowest frequency.
  case quarter = 4
  /// 4×4 pixels per block: of luma its 4×4 coefficients of lowest frequency.
  case half = 2
  /// Every pixel, from all coefficients.
  case full = 1

  /// The scales at which a part of the coefficients suffices, smallest first.
  package static let reduced: [JPEGScale] = [.eighth, .quarter, .half]

  /// The side of the blocks of a component that has only one sample for `subsampling` pixels across or down: as many
  /// samples as there are pixels.
  func side(subsampling: Int) -> BlockSide { BlockSide(atLeast: min(8, 8 / rawValue * subsampling)) }

  /// The reduced size of an image of `size` pixels; a partial last block counts as a whole one, as in libjpeg.
  package func size(of size: PixelSize) -> PixelSize {
    PixelSize((size.width + rawValue - 1) / rawValue, (size.height + rawValue - 1) / rawValue)
  }

  /// The smaller scale orders first.
  package static func < (a: JPEGScale, b: JPEGScale) -> Bool { a.rawValue > b.rawValue }
}
