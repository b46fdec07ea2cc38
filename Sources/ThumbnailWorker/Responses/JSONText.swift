/// A JSON object on one line, as bytes, written member by member.
struct JSONText {
  private(set) var bytes: [UInt8] = [UInt8(ascii: "{")]
  private var isEmpty = true

  init() { bytes.reserveCapacity(512) }

  /// The finished object.
  var closed: [UInt8] { bytes + [UInt8(ascii: "}")] }

  /// Adds a member whose value is JSON text.
  mutating func add(_ name: String, raw value: some Collection<UInt8>) {
    addName(name)
    bytes.append(contentsOf: value)
  }

  mutating func add(_ name: StaticString, _ value: Int) { add(name, raw: String(value)) }

  mutating func add(_ name: StaticString, _ value: Bool) { add(name, raw: value ? "true" : "false") }

  mutating func add(_ name: StaticString, _ value: String) {
    addName(name)
    Self.append(value, to: &bytes)
  }

  mutating func add(_ name: StaticString, _ value: JSONText) {
    addName(name)
    bytes.append(contentsOf: value.bytes)
    bytes.append(UInt8(ascii: "}"))
  }

  mutating func add(_ name: StaticString, _ values: [JSONText]) {
    addName(name)
    bytes.append(UInt8(ascii: "["))
    for (index, value) in values.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      bytes.append(contentsOf: value.bytes)
      bytes.append(UInt8(ascii: "}"))
    }
    bytes.append(UInt8(ascii: "]"))
  }

  /// Adds a time in thousandths of `unit`, without the zeros at its end.
  mutating func add(_ name: StaticString, _ time: Duration, in unit: Duration) {
    let thousandths = max(0, Int((time / unit * 1000).rounded()))
    let (whole, rest) = thousandths.quotientAndRemainder(dividingBy: 1000)
    addName(name)
    bytes.append(contentsOf: String(whole).utf8)
    bytes.append(UInt8(ascii: "."))
    let digits = [rest / 100, rest / 10 % 10, rest % 10].map { UInt8(ascii: "0") + UInt8($0) }
    bytes.append(contentsOf: digits.prefix(rest % 10 > 0 ? 3 : rest % 100 > 0 ? 2 : 1))
  }

  private mutating func add(_ name: StaticString, raw value: String) {
    addName(name)
    bytes.append(contentsOf: value.utf8)
  }

  private mutating func addName(_ name: StaticString) {
    bytes.append(contentsOf: isEmpty ? [UInt8(ascii: "\"")] : [UInt8(ascii: ","), UInt8(ascii: "\"")])
    name.withUTF8Buffer { bytes.append(contentsOf: $0) }
    bytes.append(contentsOf: [UInt8(ascii: "\""), UInt8(ascii: ":")])
    isEmpty = false
  }

  private mutating func addName(_ name: String) {
    if !isEmpty { bytes.append(UInt8(ascii: ",")) }
    Self.append(name, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    isEmpty = false
  }

  private static func append(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(contentsOf: [UInt8(ascii: "\\"), byte])
      case 0x0a: bytes.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "n")])
      case 0x09: bytes.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "t")])
      case 0..<0x20:
        bytes.append(contentsOf: Array("\\u00".utf8) + Hexadecimal.digits(of: [byte]))
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}

/// Bytes as hexadecimal digits.
enum Hexadecimal {
  private static let digits = Array("0123456789abcdef".utf8)

  static func digits(of bytes: some Collection<UInt8>) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(2 * bytes.count)
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return text
  }

  static func text(of bytes: some Collection<UInt8>) -> String { String(decoding: digits(of: bytes), as: UTF8.self) }
}
