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
