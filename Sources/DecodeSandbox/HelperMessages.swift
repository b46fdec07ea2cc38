import Foundation
import ImageCodec
import ThumbnailCore

/// The messages between a pipeline and its helper.
///
/// Each is a big-endian length of four bytes and that much JSON. A request carries the image's open file; a response is
/// followed by the thumbnails' bytes, one after the other.
enum HelperMessage {
  /// The longest JSON accepted, in bytes.
  static let longest = 256 << 10
  /// The protocol version, which both sides compare so that different versions of the program do not work together.
  static let greeting = "thumbnailer-decode-helper \(Variant.encoderVersion).3"

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
  /// What the machine cannot give of the confinement.
  var gaps: [ConfinementGap] = []
}

/// One image to decode; its file is attached.
struct HelperRequest: Codable, Equatable, Sendable {
  /// The format that the pipeline has sniffed.
  var format: ImageFormat
  /// The length of the image file in bytes.
  var byteCount: Int
  /// The variants as tokens.
  var variants: [String]
  var limits: DecodeLimits
  /// Whether ImageMagick reads a JPEG 2000. libvips 8.14.1 overruns its memory on some valid ones, apparently those
  /// whose image does not begin at the canvas' corner.
  var usesImageMagick = false
  /// Whether to salvage what can be read of a damaged image.
  var acceptsDamage = false
}

/// The result of a request.
struct HelperResponse: Codable, Equatable, Sendable {
  /// The result for one variant: a thumbnail or an error.
  struct Outcome: Codable, Equatable, Sendable {
    var size: PixelSize?
    var format: ImageFormat?
    /// The number of bytes of this thumbnail after the response.
    var byteCount = 0
    /// See `Thumbnail`.
    var isDamaged = false
    var failure: CodecError?
  }

  /// The image's size, upright; nil if nothing could be made.
  var size: PixelSize?
  /// One per variant, in the request's order.
  var outcomes: [Outcome]
}
