import FoundationEssentials
import ImageCodec
import ThumbnailCore

/// A part of a message between a pipeline and its helper.
protocol HelperCoded {
  func write(to message: inout MessageWriter)

  /// - Throws: `.nonsense` for bytes that `write` does not make.
  init(from message: inout MessageReader) throws(HelperFailure)
}

/// Writes the values of a message one after the other: numbers as eight bytes, the lowest first; texts and lists after
/// their length.
struct MessageWriter {
  private(set) var bytes: [UInt8] = []

  mutating func add(_ number: Int) {
    withUnsafeBytes(of: Int64(number).littleEndian) { bytes += $0 }
  }

  mutating func add(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

  mutating func add(_ text: String) { add(bytes: text.utf8) }

  mutating func add(bytes added: some Collection<UInt8>) {
    add(added.count)
    bytes += added
  }

  mutating func add(_ values: some Collection<some HelperCoded>) {
    add(values.count)
    for value in values { value.write(to: &self) }
  }

  mutating func add(_ value: (some HelperCoded)?) {
    add(value != nil)
    value?.write(to: &self)
  }

  /// A rare value, as JSON.
  mutating func add(json value: some Encodable) {
    add((try? JSONEncoder().encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "")
  }
}

/// Reads the output of `MessageWriter`, and trusts nothing.
struct MessageReader {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Whether all bytes are read.
  var isAtEnd: Bool { position == bytes.count }

  private static let nonsense = HelperFailure.nonsense(detail: "a message that is not what was asked for")

  private mutating func next(_ count: Int) throws(HelperFailure) -> ArraySlice<UInt8> {
    guard count >= 0, count <= bytes.count - position else { throw Self.nonsense }
    defer { position += count }
    return bytes[position..<position + count]
  }

  mutating func number() throws(HelperFailure) -> Int {
    Int(try next(8).reversed().reduce(0) { $0 << 8 | Int64($1) })
  }

  mutating func flag() throws(HelperFailure) -> Bool {
    switch try next(1).first {
    case 0: false
    case 1: true
    default: throw Self.nonsense
    }
  }

  mutating func text() throws(HelperFailure) -> String {
    guard let text = String(validating: try data(), as: UTF8.self) else { throw Self.nonsense }
    return text
  }

  mutating func data() throws(HelperFailure) -> ArraySlice<UInt8> { try next(try number()) }

  /// A value that is stored as its name.
  mutating func named<Value: RawRepresentable<String>>(_: Value.Type = Value.self) throws(HelperFailure) -> Value {
    guard let value = Value(rawValue: try text()) else { throw Self.nonsense }
    return value
  }

  mutating func list<Value: HelperCoded>(of _: Value.Type = Value.self) throws(HelperFailure) -> [Value] {
    let count = try number()
    // Each element takes at least a byte, so that a number alone reserves nothing.
    guard count >= 0, count <= bytes.count - position else { throw Self.nonsense }
    var values: [Value] = []
    for _ in 0..<count { values.append(try Value(from: &self)) }
    return values
  }

  mutating func optional<Value: HelperCoded>(_: Value.Type = Value.self) throws(HelperFailure) -> Value? {
    try flag() ? try Value(from: &self) : nil
  }

  /// The longest JSON that is read, in bytes: an error's text goes into logs, reports and the cache.
  private static let longestJSON = 16 << 10

  mutating func json<Value: Decodable>(_ type: Value.Type = Value.self) throws(HelperFailure) -> Value {
    let text = try text()
    guard text.utf8.count <= Self.longestJSON, let value = try? JSONDecoder().decode(type, from: Data(text.utf8)) else {
      throw Self.nonsense
    }
    return value
  }
}

extension Int: HelperCoded {
  func write(to message: inout MessageWriter) { message.add(self) }
  init(from message: inout MessageReader) throws(HelperFailure) { self = try message.number() }
}

extension Bool: HelperCoded {
  func write(to message: inout MessageWriter) { message.add(self) }
  init(from message: inout MessageReader) throws(HelperFailure) { self = try message.flag() }
}

extension String: HelperCoded {
  func write(to message: inout MessageWriter) { message.add(self) }
  init(from message: inout MessageReader) throws(HelperFailure) { self = try message.text() }
}

extension RowIndex: HelperCoded {
  func write(to message: inout MessageWriter) { message.add(bytes: bytes) }
  init(from message: inout MessageReader) throws(HelperFailure) { self.init(Array(try message.data())) }
}

extension PixelSize: HelperCoded {
  func write(to message: inout MessageWriter) {
    message.add(width)
    message.add(height)
  }

  init(from message: inout MessageReader) throws(HelperFailure) {
    self.init(try message.number(), try message.number())
  }
}
