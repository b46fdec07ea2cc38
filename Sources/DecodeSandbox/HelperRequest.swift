import ImageCodec
import ThumbnailCore

/// One image to decode, whose file is attached, or whose bytes follow.
struct HelperRequest: Equatable, Sendable {
  /// The most bytes of an image that are sent after the request, which for them takes less time than making a file.
  static let longestInline = 128 << 10

  /// The format that the pipeline has sniffed.
  var format: ImageFormat
  /// The length of the image in bytes.
  var byteCount: Int
  /// Whether the image's bytes follow, and no file is attached.
  var isInline = false
  /// The variants as tokens.
  var variants: [String]
  var limits: DecodeLimits
  /// What the pipeline's plan was made for; nil if the helper is to plan for itself.
  var terms: PlanTerms?
  /// Whether to salvage what can be read of a damaged image. With terms, they decide.
  var acceptsDamage = false
  /// Whether a second processor may be used.
  var hasSpareProcessor = false
  /// What is known of a JPEG's rows; nil where that is of no use.
  var index: RowIndex?
}

extension HelperRequest: HelperCoded {
  func write(to message: inout MessageWriter) {
    message.add(format.rawValue)
    message.add(byteCount)
    message.add(isInline)
    message.add(variants)
    limits.write(to: &message)
    message.add(terms)
    message.add(acceptsDamage)
    message.add(hasSpareProcessor)
    message.add(index)
  }

  init(from message: inout MessageReader) throws(HelperFailure) {
    self.init(
      format: try message.named(), byteCount: try message.number(), isInline: try message.flag(),
      variants: try message.list(), limits: try DecodeLimits(from: &message), terms: try message.optional(),
      acceptsDamage: try message.flag(), hasSpareProcessor: try message.flag(),
      index: try message.optional())
  }
}

extension DecodeLimits: HelperCoded {
  func write(to message: inout MessageWriter) {
    for number in [maximumPixels, maximumSide, maximumFrames, maximumBytes] { message.add(number) }
  }

  init(from message: inout MessageReader) throws(HelperFailure) {
    self.init(
      maximumPixels: try message.number(), maximumSide: try message.number(), maximumFrames: try message.number(),
      maximumBytes: try message.number())
  }
}
