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
  /// The body does not suffice, or was not read rightly: try it again in this way.
  case again(RenderingRetry)

  /// The same, with results of variants that were not rendered.
  func adding(_ others: [RenderedThumbnail]) -> Rendering {
    guard case .done(let made, let plan) = self else { return self }
    return .done(made + others, plan: plan)
  }
}

/// Another attempt at rendering a body.
enum RenderingRetry: Sendable {
  /// The body was stopped too early for these variants: download all of it.
  case withWholeBody
  /// The preview does not match: decode the image itself.
  case withoutPreview
  /// The coefficient decoder cannot read the file: use the other readers, which need the whole body.
  case withoutCoefficients
}

/// The results of a decode: one per variant, and its times.
struct Decoded: Sendable {
  var results: [RenderedVariant]
  let plan: String
  /// Waiting for memory and for a worker.
  let waited: Duration
  /// The time on the worker.
  let duration: Duration
}
