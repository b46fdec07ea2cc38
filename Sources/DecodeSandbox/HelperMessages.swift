import Foundation
import ImageCodec
import ThumbnailCore

/// What crosses the socket between a pipeline and its helper.
///
/// Every message is a length of four bytes, the most significant first, and that much JSON. With an order comes the
/// picture's open file; behind an answer come the thumbnails' bytes, one after the other.
enum HelperMessage {
  /// The longest JSON that is read.
  static let longest = 256 << 10
  /// Told by both sides, so that programs of different versions do not take each other at their word.
  static let greeting = "thumbnailer-decode-helper \(Variant.encoderVersion).2"

  static func encode(_ value: some Encodable) throws(HelperFailure) -> [UInt8] {
    let json: Data
    do {
      json = try JSONEncoder().encode(value)
    } catch {
      throw .nonsense(detail: "\(error)")
    }
    let length = UInt32(json.count)
    return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) } + json
  }

  static func length(_ bytes: [UInt8]) -> Int { bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) } }
}

/// The first message, from the helper.
struct HelperGreeting: Codable, Equatable {
  var name = HelperMessage.greeting
}

/// One picture to be decoded; its file comes with it.
struct HelperRequest: Codable, Equatable, Sendable {
  /// What the pipeline has seen the bytes to be.
  var format: ImageFormat
  /// The length of the picture in bytes.
  var byteCount: Int
  /// The variants by their tokens.
  var variants: [String]
  var limits: DecodeLimits
  /// Whether ImageMagick reads a JPEG 2000. libvips 8.14.1 overruns its memory with some good ones, as it
  /// seems those whose picture does not begin at the canvas' corner.
  var usesImageMagick = false
  /// Whether what can be read of a damaged picture is wanted.
  var acceptsDamage = false
}

/// What became of an order.
struct HelperResponse: Codable, Equatable, Sendable {
  /// A thumbnail, or why there is none.
  struct Outcome: Codable, Equatable, Sendable {
    var size: PixelSize?
    var format: ImageFormat?
    /// The bytes that follow for this thumbnail.
    var byteCount = 0
    /// See `Thumbnail`.
    var isDamaged = false
    var failure: CodecError?
  }

  /// The picture's size, upright; nil when nothing could be made.
  var size: PixelSize?
  /// One for each variant, in the order they were asked.
  var outcomes: [Outcome]
}
