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
  public var isWellFormed: Bool {
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
