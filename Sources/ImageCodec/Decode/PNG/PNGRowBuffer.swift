import ThumbnailCore

/// Inflated rows, each behind the byte of its filter. The row before the first one is always kept.
final class PNGRowBuffer {
  /// The bytes of rows that are inflated at once, unless one row takes more: enough for ISA-L to write directly, little
  /// enough for the processor's cache.
  private static let room = 131_072

  /// The bytes of a row and its filter.
  private let stride: Int
  private let pixelBytes: Int
  /// Owned. Begins with the last row taken, or zeros.
  private let memory: UnsafeMutableRawBufferPointer
  /// The offset of the next row to take; the previous row lies directly before it.
  private var start: Int
  /// The offset behind the last inflated byte.
  private var end: Int
  /// The number of bytes of the image that have not been inflated.
  private var missing: Int

  /// The memory that a buffer takes, in bytes.
  static func bytes(rowBytes: Int) -> Int {
    let stride = rowBytes + 1
    return stride + max(room, stride) + PNGFilter.margin
  }

  init(rowBytes: Int, pixelBytes: Int, rowCount: Int) {
    stride = rowBytes + 1
    self.pixelBytes = pixelBytes
    memory = .allocate(byteCount: Self.bytes(rowBytes: rowBytes), alignment: 16)
    memory.initializeMemory(as: UInt8.self, repeating: 0)
    (start, end, missing) = (stride, stride, stride * rowCount)
  }

  deinit { memory.deallocate() }

  /// The number of inflated rows that have not been taken.
  var wholeRows: Int { (end - start) / stride }
  /// Whether the last row has been inflated.
  var isComplete: Bool { missing == 0 }

  /// Calls `inflate` to write into the free memory, at most up to the last row; it returns the number of bytes written.
  func fill(
    _ inflate: (UnsafeMutableRawBufferPointer) throws(CodecError) -> Int
  ) throws(CodecError) {
    if start > stride {
      let kept = UnsafeRawBufferPointer(rebasing: memory[start - stride..<end])
      memory.copyMemory(from: kept)
      (start, end) = (stride, kept.count)
    }
    let free = min(memory.count - PNGFilter.margin - end, missing)
    let written = try inflate(UnsafeMutableRawBufferPointer(rebasing: memory[end..<end + free]))
    end += written
    missing -= written
  }

  /// Undoes the filters of the next rows and returns them; they are valid until the next call.
  ///
  /// - Throws: `.damaged(.decode, …)` for an unknown filter.
  func takeRows(atMost most: Int) throws(CodecError) -> RowBand {
    let count = min(wholeRows, most)
    // Safety: `start` is at least a stride, and `count` strides and the margin lie between it and the memory's end.
    let base = memory.baseAddress.unsafelyUnwrapped
    let first = base + start + 1
    for row in 0..<count {
      let pixels = first + row * stride
      let filter = (pixels - 1).load(as: UInt8.self)
      guard PNGFilter.undo(filter, pixels, prior: pixels - stride, count: stride - 1, pixelBytes: pixelBytes) else {
        throw .damaged(.decode, detail: "unknown filter \(filter)")
      }
    }
    start += count * stride
    return RowBand(start: UnsafeRawPointer(first), stride: stride, count: count)
  }
}
