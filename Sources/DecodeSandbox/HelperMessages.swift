import FoundationEssentials
import Glibc
import ImageCodec
import Synchronization
import ThumbnailCore

/// The messages between a pipeline and its helper.
///
/// Each is a big-endian length of four bytes and that many bytes of values (`MessageCoder`). A request carries the
/// image's open file, or is followed by a short image's bytes; a response is followed by the thumbnails' profiles, and
/// by samples that do not fit into `SharedSamples`, one after the other. No encoded thumbnail is sent: decoders run in
/// the pipeline's process as well, and would read the file of a compromised helper.
enum HelperMessage {
  /// The most bytes that a message may have.
  static let longest = 1 << 20
  /// The protocol version, which both sides compare so that different versions of the program do not work together.
  static let greeting = "thumbnailer-decode-helper \(Variant.encoderVersion).11"

  static func encode(_ value: some HelperCoded) -> [UInt8] {
    var (message, value) = (MessageCoder(), value)
    value.code(&message)
    let length = UInt32(message.bytes.count)
    return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) } + message.bytes
  }

  static func decode<Message: HelperCoded>(_: Message.Type, _ bytes: [UInt8]) throws(HelperFailure) -> Message {
    var (reader, message) = (MessageCoder(bytes), Message.blank)
    message.code(&reader)
    if reader.isNonsense { throw .nonsense(detail: "a message that is not what was asked for") }
    guard reader.isAtEnd else { throw .nonsense(detail: "a message with more behind it") }
    return message
  }
}

/// The first message, from the helper.
struct HelperGreeting: Equatable {
  var name = HelperMessage.greeting
  /// The parts of the confinement that the machine lacks.
  var gaps: [ConfinementGap] = []
}

extension HelperGreeting: HelperCoded {
  static let blank = HelperGreeting()

  mutating func code(_ message: inout MessageCoder) {
    message.code(&name)
    message.code(&gaps)
  }
}

extension ConfinementGap: HelperCoded {
  static let blank = ConfinementGap(.namespaces, SystemFailure(code: 0))

  mutating func code(_ message: inout MessageCoder) {
    message.code(&part)
    message.code(&reason)
  }
}

/// A part of a message between a pipeline and its helper.
protocol HelperCoded {
  /// What is replaced by what a message has.
  static var blank: Self { get }

  /// Writes the values one after the other, or reads them in the same order.
  mutating func code(_ message: inout MessageCoder)
}

/// Writes the values of a message one after the other, or reads them and trusts nothing: numbers in eight bytes, the
/// lowest first; texts and lists with their length before them.
struct MessageCoder {
  /// The longest JSON that is read, in bytes: an error's text goes into logs, reports and the cache.
  private static let longestJSON = 16 << 10

  private(set) var bytes: [UInt8] = []
  /// How far they are read; nil where they are written.
  private var position: Int?
  /// Whether something was read that is not written like that. What is read from then on is zero.
  private(set) var isNonsense = false

  /// Writes.
  init() {}

  /// Reads.
  init(_ bytes: [UInt8]) { (self.bytes, position) = (bytes, 0) }

  var isReading: Bool { position != nil }

  /// Whether all bytes are read.
  var isAtEnd: Bool { position == bytes.count }

  /// The next bytes that are read.
  private mutating func next(_ count: Int) -> ArraySlice<UInt8> {
    guard let start = position, !isNonsense, count >= 0, count <= bytes.count - start else {
      isNonsense = true
      return []
    }
    position = start + count
    return bytes[start..<start + count]
  }

  mutating func code(_ number: inout Int) {
    if position != nil {
      number = Int(next(8).reversed().reduce(0) { $0 << 8 | Int64($1) })
    } else {
      withUnsafeBytes(of: Int64(number).littleEndian) { bytes += $0 }
    }
  }

  mutating func code(_ flag: inout Bool) {
    if position != nil {
      let byte = next(1).first ?? 0
      (flag, isNonsense) = (byte == 1, isNonsense || byte > 1)
    } else {
      bytes.append(flag ? 1 : 0)
    }
  }

  mutating func code(_ data: inout [UInt8]) {
    var count = data.count
    code(&count)
    if position != nil { data = Array(next(count)) } else { bytes += data }
  }

  mutating func code(_ text: inout String) {
    var data = Array(text.utf8)
    code(&data)
    if position != nil { text = known(String(validating: data, as: UTF8.self)) ?? "" }
  }

  /// A value that is stored as its name.
  mutating func code<Value: RawRepresentable<String>>(_ value: inout Value) {
    var name = value.rawValue
    code(&name)
    if position != nil { value = known(Value(rawValue: name)) ?? value }
  }

  mutating func code<Value: HelperCoded>(_ values: inout [Value]) {
    var count = values.count
    code(&count)
    // Each element takes at least a byte, so that a number alone reserves nothing.
    if let position {
      isNonsense = isNonsense || count < 0 || count > bytes.count - position
      values = []
      while !isNonsense, values.count < count { values.append(.blank); values[values.count - 1].code(&self) }
    } else {
      for index in values.indices { values[index].code(&self) }
    }
  }

  mutating func code<Value: HelperCoded>(_ value: inout Value?) {
    var isThere = value != nil
    code(&isThere)
    if position != nil { value = isThere ? .blank : nil }
    value?.code(&self)
  }

  /// A rare value, as JSON.
  mutating func code<Value: Codable>(json value: inout Value) {
    var data = position == nil ? (try? JSONEncoder().encode(value)).map { Array($0) } ?? [] : []
    code(&data)
    guard position != nil else { return }
    let isShort = data.count <= Self.longestJSON
    value = known(isShort ? try? JSONDecoder().decode(Value.self, from: Data(data)) : nil) ?? value
  }

  /// What was read; nil, and nonsense, if it is not known.
  mutating func known<Value>(_ value: Value?) -> Value? {
    isNonsense = isNonsense || value == nil
    return value
  }
}

extension Int: HelperCoded {
  static let blank = 0
  mutating func code(_ message: inout MessageCoder) { message.code(&self) }
}

extension Bool: HelperCoded {
  static let blank = false
  mutating func code(_ message: inout MessageCoder) { message.code(&self) }
}

extension PixelSize: HelperCoded {
  static let blank = PixelSize(0, 0)

  mutating func code(_ message: inout MessageCoder) {
    message.code(&width)
    message.code(&height)
  }
}

extension RowIndex: HelperCoded {
  static let blank = RowIndex()

  mutating func code(_ message: inout MessageCoder) {
    var bytes = bytes
    message.code(&bytes)
    self = RowIndex(bytes)
  }
}

extension Variant: HelperCoded {
  static let blank = Variant(size: PixelSize(1, 1))

  /// The last variant that was read: all pictures of a run have the same.
  private static let last = Mutex<(token: String, variant: Variant)?>(nil)

  mutating func code(_ message: inout MessageCoder) {
    var token = message.isReading ? "" : token
    message.code(&token)
    guard message.isReading else { return }
    let read = Self.last.withLock { last in
      if last?.token != token { last = Variant(token: token).map { (token, $0) } }
      return last?.variant
    }
    self = message.known(read) ?? self
  }
}

extension DecodeLimits: HelperCoded {
  static let blank = DecodeLimits()

  mutating func code(_ message: inout MessageCoder) {
    message.code(&maximumPixels)
    message.code(&maximumSide)
    message.code(&maximumFrames)
    message.code(&maximumBytes)
  }
}
