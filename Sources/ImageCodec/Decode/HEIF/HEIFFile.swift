import HEIFContainer
import ThumbnailCore

/// A HEIC or AVIF and its table of contents.
struct HEIFFile {
  let body: ByteSource
  let items: HEIFItems

  /// Reads the table of contents of a body that was probed.
  init(_ body: ByteSource) throws(CodecError) {
    guard let meta = try Self.meta(of: body) else { throw .damaged(.header, detail: "no table of contents") }
    self.body = body
    items = try HEIFItems(meta: try body.bytes(at: meta.lowerBound, length: meta.count), at: meta.lowerBound)
  }

  /// An item; one that is missing is damage.
  func item(_ id: UInt32) throws(CodecError) -> HEIFItem {
    guard let item = items.item(id) else { throw .damaged(.header, detail: "no item \(id)") }
    return item
  }

  /// Copies the bytes of an item to the memory that `allocate` returns for their number.
  func copy(
    _ item: HEIFItem, to allocate: (Int) throws(CodecError) -> UnsafeMutableRawBufferPointer
  ) throws(CodecError) {
    let ranges = try item.ranges(inFileOf: body.count)
    let target = try allocate(ranges.reduce(0) { $0 + $1.count })
    var filled = 0
    for range in ranges {
      // The target has as many bytes as all ranges.
      let part = UnsafeMutableRawBufferPointer(rebasing: target[filled..<filled + range.count])
      guard try body.copy(at: range.lowerBound, into: part) == range.count else {
        throw .truncated(detail: "in an item")
      }
      filled += range.count
    }
  }

  /// The range of the content of the box `meta`.
  private static func meta(of body: ByteSource) throws(CodecError) -> Range<Int>? {
    var position = 0
    for _ in 0..<HEIFHeader.mostBoxes where position < body.count {
      let bytes = try body.bytes(at: position, length: BoxHeader.mostBytes)
      guard let header = try? BoxHeader(bytes) else { return nil }
      let length = min(header.length ?? body.count, body.count - position)
      if header.kind == "meta" {
        guard length <= HEIFHeader.longestMeta, length >= header.headerLength else { return nil }
        return position + header.headerLength..<position + length
      }
      position += length
    }
    return nil
  }
}
