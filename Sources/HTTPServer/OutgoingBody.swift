import NIOCore

/// A body that is sent in parts, so that a client only has to take each part in time, not all of it.
struct OutgoingBody {
  private static let partLength = 512 << 10

  private enum Rest {
    case bytes(ByteBuffer)
    case file(NIOFileHandle, Range<Int>)
  }

  private var rest: Rest

  init(_ bytes: ByteBuffer) { rest = .bytes(bytes) }

  /// The first bytes of a file, which belongs to this value from now on.
  init(_ file: NIOFileHandle, length: Int) { rest = .file(file, 0..<length) }

  /// The next part, and whether it is the last one.
  mutating func next() -> (part: IOData, isLast: Bool) {
    switch rest {
    case .bytes(var bytes):
      let part = bytes.readSlice(length: min(Self.partLength, bytes.readableBytes)) ?? ByteBuffer()
      rest = .bytes(bytes)
      return (.byteBuffer(part), bytes.readableBytes == 0)
    case .file(let file, let range):
      let end = min(range.lowerBound + Self.partLength, range.upperBound)
      rest = .file(file, end..<range.upperBound)
      let region = FileRegion(fileHandle: file, readerIndex: range.lowerBound, endIndex: end)
      return (.fileRegion(region), end == range.upperBound)
    }
  }

  /// Closes the file, if it is one.
  func close() {
    if case .file(let file, _) = rest { try? file.close() }
  }
}
