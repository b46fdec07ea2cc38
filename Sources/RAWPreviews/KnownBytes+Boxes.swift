/// A box (ISO/IEC 14496-12) in the bytes of a file.
package struct KnownBox {
  /// Four characters.
  package let kind: [UInt8]
  /// The range of its content.
  package let payload: Range<Int>

  package var end: Int { payload.upperBound }

  package func isKind(_ name: String) -> Bool { kind.elementsEqual(name.utf8) }
}

extension KnownBytes {
  /// The box at a position; nil if there is none, or it does not end before `end`.
  package func box(at position: Int, before end: Int) throws(MissingBytes) -> KnownBox? {
    guard position + 8 <= end, var size = try number(at: position, count: 4, isBigEndian: true),
      let kind = try slice(position + 4..<position + 8)
    else { return nil }
    var header = 8
    if size == 1 {
      // No file is so long that the first byte is not 0.
      guard try has([0], at: position + 8), let long = try number(at: position + 9, count: 7, isBigEndian: true)
      else { return nil }
      (size, header) = (long, 16)
    } else if size == 0 {
      size = end - position
    }
    guard size >= header, size <= end - position else { return nil }
    return KnownBox(kind: Array(kind), payload: position + header..<position + size)
  }
}
