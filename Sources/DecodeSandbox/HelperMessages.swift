import Glibc
import ImageCodec
import ThumbnailCore

/// The messages between a pipeline and its helper.
///
/// Each is a big-endian length of four bytes and that many bytes of values (`MessageCoder`). A request carries the
/// image's open file, or is followed by a short image's bytes; a response is followed by the thumbnails' samples and
/// profiles, one after the other. No encoded thumbnail is sent: decoders run in the pipeline's process as well, and
/// would read the file of a compromised helper.
enum HelperMessage {
  /// The most bytes that a message may have.
  static let longest = 1 << 20
  /// The protocol version, which both sides compare so that different versions of the program do not work together.
  static let greeting = "thumbnailer-decode-helper \(Variant.encoderVersion).7"

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
    message.code(json: &gaps)
  }
}
