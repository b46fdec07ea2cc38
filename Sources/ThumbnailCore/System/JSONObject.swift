import Glibc

/// A value of a JSON object's member.
package protocol JSONValue {
  /// Appends the value's JSON, in UTF-8.
  func append(to json: inout [UInt8])
}

/// A JSON object on one line, with its members in the order of their addition; members that are nil are left out.
///
/// Hand-written for two reasons: the members keep the documented order, and a line takes only a few microseconds, which
/// allows ten thousand images a second.
package struct JSONObject: JSONValue, ExpressibleByDictionaryLiteral {
  /// Room for a line of one image, in bytes.
  private static let usualLength = 512

  private var members: [UInt8] = []

  package init(dictionaryLiteral members: (String, (any JSONValue)?)...) {
    self.members.reserveCapacity(Self.usualLength)
    for (name, value) in members { add(name, value) }
  }

  /// The object's text.
  package var line: String { String(decoding: bytes, as: UTF8.self) }

  /// The object's text in UTF-8.
  package var bytes: [UInt8] {
    var json: [UInt8] = []
    append(to: &json)
    return json
  }

  /// The last line of a run, `{"summary":{…}}`.
  package var summaryLine: String { (["summary": self] as JSONObject).line }

  /// Adds a member, unless the value is nil.
  package mutating func add(_ name: String, _ value: (any JSONValue)?) {
    guard let value else { return }
    if !members.isEmpty { members.append(UInt8(ascii: ",")) }
    name.append(to: &members)
    members.append(UInt8(ascii: ":"))
    value.append(to: &members)
  }

  package func append(to json: inout [UInt8]) {
    json.append(UInt8(ascii: "{"))
    json += members
    json.append(UInt8(ascii: "}"))
  }
}

/// A value that is JSON already, in UTF-8.
package struct JSONText: JSONValue {
  private let bytes: [UInt8]

  package init(_ bytes: some Collection<UInt8>) { self.bytes = Array(bytes) }

  package func append(to json: inout [UInt8]) { json += bytes }
}

extension Int: JSONValue {
  package func append(to json: inout [UInt8]) { json += String(self).utf8 }
}

extension Double: JSONValue {
  package func append(to json: inout [UInt8]) { json += (isFinite ? String(self) : "0").utf8 }

  /// The number rounded to this many decimal places.
  package func rounded(toPlaces places: Int) -> Double {
    let factor = pow(10, Double(places))
    return (self * factor).rounded() / factor
  }
}

extension Bool: JSONValue {
  package func append(to json: inout [UInt8]) { json += (self ? "true" : "false").utf8 }
}

extension Array: JSONValue where Element: JSONValue {
  package func append(to json: inout [UInt8]) {
    json.append(UInt8(ascii: "["))
    for (index, value) in enumerated() {
      if index > 0 { json.append(UInt8(ascii: ",")) }
      value.append(to: &json)
    }
    json.append(UInt8(ascii: "]"))
  }
}

extension String: JSONValue {
  package func append(to json: inout [UInt8]) {
    var text = self
    text.withUTF8 { bytes in
      json.append(UInt8(ascii: "\""))
      if bytes.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
        json += bytes
      } else {
        for byte in bytes { byte.appendEscaped(to: &json) }
      }
      json.append(UInt8(ascii: "\""))
    }
  }
}

extension UInt8 {
  fileprivate func appendEscaped(to json: inout [UInt8]) {
    switch Unicode.Scalar(self) {
    case "\"": json += "\\\"".utf8
    case "\\": json += "\\\\".utf8
    case "\n": json += "\\n".utf8
    case "\r": json += "\\r".utf8
    case "\t": json += "\\t".utf8
    case "\0"..<" ": json += "\\u00\(self < 16 ? "0" : "")\(String(self, radix: 16))".utf8
    default: json.append(self)
    }
  }
}
