package import ThumbnailCore

/// Reads a range of some bytes from its start to its end. Reading beyond it is an error, never a trap.
package struct BoxCursor {
  /// The most boxes in one box.
  package static let mostBoxes = 8192

  private let bytes: [UInt8]
  /// The unread rest, in indices of `bytes`.
  private(set) var rest: Range<Int>

  package init(_ bytes: [UInt8]) { (self.bytes, rest) = (bytes, 0..<bytes.count) }

  private init(_ bytes: [UInt8], _ rest: Range<Int>) { (self.bytes, self.rest) = (bytes, rest) }

  var isAtEnd: Bool { rest.isEmpty }

  /// The next big-endian number of 0 to 8 bytes; one of 8 bytes must fit into 63 bits.
  package mutating func number(_ length: Int) throws(CodecError) -> Int {
    guard length <= rest.count else { throw .truncated(detail: "in a table") }
    var value: UInt64 = 0
    for index in rest.lowerBound..<rest.lowerBound + length { value = value << 8 | UInt64(bytes[index]) }
    rest = rest.lowerBound + length..<rest.upperBound
    guard let number = Int(exactly: value) else { throw .damaged(.header, detail: "a number beyond any file's length") }
    return number
  }

  /// The next signed number of 4 bytes.
  mutating func signedNumber() throws(CodecError) -> Int {
    Int(Int32(truncatingIfNeeded: try number(4)))
  }

  mutating func fourCC() throws(CodecError) -> FourCC { FourCC(code: UInt32(truncatingIfNeeded: try number(4))) }

  /// The next bytes.
  mutating func take(_ length: Int) throws(CodecError) -> [UInt8] {
    guard length >= 0, length <= rest.count else { throw .truncated(detail: "in a table") }
    defer { rest = rest.lowerBound + length..<rest.upperBound }
    return Array(bytes[rest.lowerBound..<rest.lowerBound + length])
  }

  /// All bytes that are left.
  package var remaining: [UInt8] { Array(bytes[rest]) }

  /// The text up to the next zero byte, or to the end.
  mutating func text() -> String {
    let end = bytes[rest].firstIndex(of: 0) ?? rest.upperBound
    defer { rest = min(end + 1, rest.upperBound)..<rest.upperBound }
    return String(decoding: bytes[rest.lowerBound..<end], as: UTF8.self)
  }

  /// The version and the flags at the start of a full box.
  mutating func versionAndFlags() throws(CodecError) -> (version: Int, flags: Int) {
    (try number(1), try number(3))
  }

  /// The next box, with a cursor of its content; nil at the end.
  ///
  /// - Throws: `.truncated` for a box that is longer than its container.
  mutating func box() throws(CodecError) -> (kind: FourCC, content: BoxCursor)? {
    if isAtEnd { return nil }
    let header = try BoxHeader(bytes[rest])
    let length = header.length ?? rest.count
    guard length <= rest.count else { throw .truncated(detail: "in the box \(header.kind)") }
    let content = rest.lowerBound + header.headerLength..<rest.lowerBound + length
    rest = content.upperBound..<rest.upperBound
    return (header.kind, BoxCursor(bytes, content))
  }

  /// All boxes that are left.
  package func boxes() throws(CodecError) -> [(kind: FourCC, content: BoxCursor)] {
    var (cursor, found) = (self, [(kind: FourCC, content: BoxCursor)]())
    while let next = try cursor.box() {
      guard found.count < Self.mostBoxes else { throw .damaged(.header, detail: "too many boxes") }
      found.append(next)
    }
    return found
  }
}

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
  package init(_ bytes: some Collection<UInt8>) throws(CodecError) {
    var cursor = BoxCursor(Array(bytes.prefix(Self.mostBytes)))
    let short = try cursor.number(4)
    kind = FourCC(code: UInt32(truncatingIfNeeded: try cursor.number(4)))
    let long = short == 1 ? try cursor.number(8) : short
    headerLength = short == 1 ? 16 : 8
    length = short == 0 ? nil : long
    if let length, length < headerLength { throw .damaged(.header, detail: "a box of \(length) bytes") }
  }
}

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
