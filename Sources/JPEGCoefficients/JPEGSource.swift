/// The bytes of a JPEG, wherever they lie.
package protocol JPEGSource: Sendable {
  /// How many there are.
  var count: Int { get }

  /// Copies bytes from `offset` into a buffer until it is full or the file ends, and returns how many.
  func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int
}

extension JPEGSource {
  /// Up to `length` bytes from `offset`; fewer where the file ends before.
  func bytes(at offset: Int, length: Int) throws -> [UInt8] {
    let wanted = max(0, min(length, count - offset))
    return try [UInt8](unsafeUninitializedCapacity: wanted) { buffer, filled in
      filled = try read(
        at: offset, into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<wanted]))
    }
  }
}
