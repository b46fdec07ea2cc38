/// The header of a box: its kind and its length.
package struct BoxHeader: Sendable, Equatable {
  /// The bytes that hold any header.
  package static let mostBytes = 16

  package let kind: FourCC
  /// The length of this header in bytes.
  package let headerLength: Int
  /// The length of the whole box in bytes; nil if it ends with its container.
  package let length: Int?

  /// Parses the header at the start of some bytes.
  ///
  /// - Throws: `.truncated`; `.damaged` for a box that is shorter than its header or longer than any file.
  package init(_ bytes: some Collection<UInt8>) throws(HEIFError) {
    var cursor = BoxCursor(Array(bytes.prefix(Self.mostBytes)))
    let short = try cursor.number(4)
    kind = FourCC(code: UInt32(truncatingIfNeeded: try cursor.number(4)))
    let long = short == 1 ? try cursor.number(8) : short
    headerLength = short == 1 ? 16 : 8
    length = short == 0 ? nil : long
    if let length, length < headerLength { throw .damaged("a box of \(length) bytes") }
  }
}
