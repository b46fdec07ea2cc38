/// Four characters that name a box, an item's kind or a reference.
package struct FourCC: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The characters as a big-endian number.
  package let code: UInt32

  package init(code: UInt32) { self.code = code }

  /// The first four bytes of the text.
  package init(stringLiteral text: StaticString) {
    code = text.withUTF8Buffer { bytes in bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }
  }

  package var description: String {
    String(decoding: [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: code >> $0) }, as: UTF8.self)
  }
}
