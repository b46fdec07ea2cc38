import DecodeSandbox
import ImageCodec
import ThumbnailCore

/// A variant with its own success or failure.
struct RenderedThumbnail: Sendable {
  let variant: Variant
  let result: Result<Thumbnail, ThumbnailError>

  init(_ variant: Variant, _ result: Result<Thumbnail, ThumbnailError>) {
    (self.variant, self.result) = (variant, result)
  }
}

/// The result of rendering a body.
enum Rendering: Sendable {
  /// One result for each variant. `plan` describes the decode plan, if there was one.
  case done([RenderedThumbnail], plan: String?)
  /// The body was stopped too early for these variants: download all of it.
  case needsWholeBody
  /// The preview does not match: the image itself is decoded, of which more may be needed.
  case needsBodyOfImage
  /// Other variants are wanted since the visit was queued. The body is open, and nothing is decoded.
  case requestsChanged
}

/// One decode of an image, and what it takes.
struct Decode: Sendable {
  var request: HelperRequest
  /// The results of variants that are not made.
  var refused: [RenderedThumbnail] = []
  /// The memory that it takes of the budget.
  var bytes: Int
  /// How often more was granted.
  var grants = 0
  /// Why there is no memory for a decode alone, after that was found out.
  var shortage: ThumbnailError?

  /// How long it has waited for memory and workers.
  var waited = Duration.zero

  /// Gives it more memory.
  mutating func grant(_ more: Int) { (bytes, request.terms.memory, grants) = (more, more, grants + 1) }

  /// Whether only a helper reads the header, so that its memory cannot be predicted.
  var isUnplanned: Bool { request.probe == nil }
}

/// The result of a decode.
enum Decoded {
  /// The pixels, and the plan in words.
  case made(DecodedImage, plan: String, duration: Duration)
  /// What is needed for it.
  case needs(DecodeNeed)
}
