import Foundation
import ThumbnailCore

/// Reads JSON text byte by byte, strictly by RFC 8259, without a tree: a caller takes the values it knows, and skips the
/// others.
///
/// Foundation's decoder takes 30 µs for a line, this one a microsecond. The text has to be UTF-8.
struct JSONScanner {
  /// The deepest nesting of values.
  private static let deepest = 128

  let bytes: [UInt8]
  private(set) var position: Int

  init(_ bytes: [UInt8], at position: Int = 0) { (self.bytes, self.position) = (bytes, position) }

  /// The next byte that is no blank; nil at the end.
  mutating func peek() -> UInt8? {
    while position < bytes.count {
      let byte = bytes[position]
      guard byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d else { return byte }
      position += 1
    }
    return nil
  }

  /// Reads the members of an object: `body` is called with each name, and has to read its value.
  mutating func object(_ body: (String, inout JSONScanner) throws(InvalidValue) -> Void) throws(InvalidValue) {
    try expect(UInt8(ascii: "{"), "an object is expected")
    if peek() == UInt8(ascii: "}") { return position += 1 }
    while true {
      let name = try string()
      try expect(UInt8(ascii: ":"), "a colon is missing")
      try body(name, &self)
      if try endsList(with: UInt8(ascii: "}")) { return }
    }
  }

  /// Reads the elements of an array: `body` has to read each.
  mutating func array(_ body: (inout JSONScanner) throws(InvalidValue) -> Void) throws(InvalidValue) {
    try expect(UInt8(ascii: "["), "a list is expected")
    if peek() == UInt8(ascii: "]") { return position += 1 }
    while true {
      try body(&self)
      if try endsList(with: UInt8(ascii: "]")) { return }
    }
  }

  /// Reads a value of any type, and returns its range.
  @discardableResult
  mutating func value(depth: Int = 0) throws(InvalidValue) -> Range<Int> {
    guard depth < Self.deepest else { throw InvalidValue("it is nested too deeply") }
    guard let first = peek() else { throw InvalidValue("it ends in the middle") }
    let start = position
    switch first {
    case UInt8(ascii: "{"):
      try object { (_, rest) throws(InvalidValue) in try rest.value(depth: depth + 1) }
    case UInt8(ascii: "["):
      try array { rest throws(InvalidValue) in try rest.value(depth: depth + 1) }
    case UInt8(ascii: "\""): _ = try stringRange()
    case UInt8(ascii: "t"): try word("true")
    case UInt8(ascii: "f"): try word("false")
    case UInt8(ascii: "n"): try word("null")
    default: try number()
    }
    return start..<position
  }

  /// Takes a string.
  mutating func string() throws(InvalidValue) -> String {
    let (range, hasEscapes) = try stringRange()
    guard hasEscapes else { return String(decoding: bytes[range], as: UTF8.self) }
    // With its quotation marks. A text with half of a surrogate pair is refused.
    guard let text = try? JSONDecoder().decode(String.self, from: Data(bytes[range.lowerBound - 1...range.upperBound]))
    else { throw InvalidValue("a text holds half of a surrogate pair") }
    return text
  }

  /// Reads a string, and returns the range of its characters, and whether some are escaped.
  mutating func stringRange() throws(InvalidValue) -> (Range<Int>, hasEscapes: Bool) {
    try expect(UInt8(ascii: "\""), "a text is expected")
    let start = position
    var hasEscapes = false
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      if byte == UInt8(ascii: "\"") { return (start..<position - 1, hasEscapes) }
      if byte < 0x20 { throw InvalidValue("a text holds a control character") }
      if byte == UInt8(ascii: "\\") {
        hasEscapes = true
        try skipEscape()
      }
    }
    throw InvalidValue("a text has no end")
  }

  /// Fails unless the text is at its end.
  mutating func expectEnd() throws(InvalidValue) {
    if peek() != nil { throw InvalidValue("there is something behind its end") }
  }

  // MARK: Parts

  private mutating func expect(_ byte: UInt8, _ reason: String) throws(InvalidValue) {
    guard let next = peek() else { throw InvalidValue("it ends in the middle") }
    guard next == byte else { throw InvalidValue(reason) }
    position += 1
  }

  /// Reads the comma or the end of the list after an element.
  private mutating func endsList(with end: UInt8) throws(InvalidValue) -> Bool {
    let next = peek()
    guard next == end || next == UInt8(ascii: ",") else {
      throw InvalidValue(next == nil ? "it ends in the middle" : "a comma is missing")
    }
    position += 1
    return next == end
  }

  private mutating func word(_ word: StaticString) throws(InvalidValue) {
    let matches = word.withUTF8Buffer { bytes[position...].prefix($0.count).elementsEqual($0) }
    guard matches else { throw InvalidValue("it is no JSON") }
    position += word.utf8CodeUnitCount
  }

  private mutating func number() throws(InvalidValue) {
    if next == UInt8(ascii: "-") { position += 1 }
    if next == UInt8(ascii: "0") { position += 1 } else { try digits() }
    if next == UInt8(ascii: ".") {
      position += 1
      try digits()
    }
    if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
      position += 1
      if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
      try digits()
    }
  }

  private mutating func digits() throws(InvalidValue) {
    let start = position
    while let byte = next, (0x30...0x39).contains(byte) { position += 1 }
    if position == start { throw InvalidValue("it is no JSON") }
  }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  /// Skips an escape after its backslash.
  private mutating func skipEscape() throws(InvalidValue) {
    guard let byte = next else { throw InvalidValue("a text has no end") }
    position += 1
    switch byte {
    case UInt8(ascii: "u"):
      guard bytes.count - position >= 4, bytes[position..<position + 4].allSatisfy(Self.isHexadecimal) else {
        throw InvalidValue("an escape has no four digits")
      }
      position += 4
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      break
    default: throw InvalidValue("a text holds an unknown escape")
    }
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool { byte < 0x80 && Character(UnicodeScalar(byte)).isHexDigit }
}
