// The module HTTPSemantics: HTTP's rules as pure values, without a transport.

import Glibc

/// One header field. Names compare case-insensitively; values are sent unchanged.
///
/// Its description shows the name alone, because any value may be a credential.
public struct HTTPHeader: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The field's name, such as `Authorization`.
  public var name: String
  /// The field's value, without line breaks.
  public var value: String

  /// Makes a field of a name and a value.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

  /// Whether it can be sent: a name of printable characters without a space or colon, and a value of one line.
  package var isWellFormed: Bool {
    !name.isEmpty && name.utf8.allSatisfy { $0 > 32 && $0 < 127 && $0 != UInt8(ascii: ":") }
      && value.utf8.allSatisfy { $0 != 0 && $0 != 10 && $0 != 13 }
  }

  /// The name, with the value hidden.
  public var description: String { "\(name): [hidden]" }
  /// The same as `description`.
  public var debugDescription: String { description }
  /// Empty, so that dumps do not show the value.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension [HTTPHeader] {
  /// The value of the first field of that name, compared case-insensitively.
  package func firstValue(of name: String) -> String? {
    first { $0.name.isSameField(as: name) }?.value
  }
}

// The text of header fields, as bytes: with Foundation's functions for text in any language, the comparison of names
// took a twelfth of the time of a small image.

extension String {
  /// Whether both are equal except for the case of ASCII letters, as names of fields compare (RFC 9110, 5.1).
  package func isSameField(as name: String) -> Bool {
    utf8.count == name.utf8.count
      && utf8.elementsEqual(name.utf8) { $0 == $1 || $0.lowercasedASCII == $1.lowercasedASCII }
  }
}

extension StringProtocol {
  /// The text without white space of ASCII at its ends.
  package func trimmingSpaces() -> String { trimming(\.isSpace) }

  /// The text without such bytes at its ends.
  func trimming(_ isDropped: (UInt8) -> Bool) -> String {
    let bytes = Substring(self).utf8.drop(while: isDropped)
    guard let last = bytes.lastIndex(where: { !isDropped($0) }) else { return "" }
    return String(decoding: bytes[...last], as: UTF8.self)
  }
}

extension UInt8 {
  /// The lower-case form of an ASCII letter; any other byte itself.
  fileprivate var lowercasedASCII: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
  /// Whether it is white space in ASCII: a space, or tab to carriage return.
  fileprivate var isSpace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
}
