import DecodeSandbox
import ImageCodec
import ThumbnailCore

/// Plans within the memory that is available: which variants can be made, and how.
extension Renderer {
  /// The cheapest plan that is good enough for all the variants: beside other decodes if possible, else alone.
  func plan(_ variants: [Variant], _ probe: ImageProbe, of body: SourceBody) throws(CodecError) -> DecodePlan {
    let admission = runner.admission
    func make(within bytes: Int) throws(CodecError) -> DecodePlan {
      try DecodePlan.make(
        probe: probe, bodyLength: body.bytes.count, variants: variants, memoryBudget: bytes,
        isBodyWhole: body.isComplete, mayReadCoefficients: body.mayReadCoefficients)
    }
    do throws(CodecError) {
      return try make(within: admission.share)
    } catch {
      guard case .exceedsMemoryBudget(let needed, _) = error else { throw error }
      if needed > admission.most { throw .exceedsMemoryBudget(needed: needed, budget: admission.most) }
      return try make(within: needed)
    }
  }

  /// Separates the variants that can be made within the available memory from those that cannot, even alone.
  ///
  /// - Throws: If not even the smallest thumbnail could be made: that is an error for all waiters, and is cached.
  func sort(
    _ variants: [Variant], _ probe: ImageProbe, of body: SourceBody
  ) throws(ThumbnailError) -> (affordable: [Variant], overBudget: [RenderedThumbnail]) {
    var affordable: [Variant] = []
    var overBudget: [RenderedThumbnail] = []
    for variant in variants {
      do throws(CodecError) {
        _ = try plan([variant], probe, of: body)
        affordable.append(variant)
      } catch {
        overBudget.append(RenderedThumbnail(variant, .failure(ThumbnailError(error, of: configuration))))
      }
    }
    if affordable.isEmpty {
      let smallest = Variant(size: PixelSize(1, 1), fit: .contain)
      _ = try mapped { () throws(CodecError) in try plan([smallest], probe, of: body) }
    }
    return (affordable, overBudget)
  }

  /// Maps the codec's errors.
  func mapped<Value>(_ body: () throws(CodecError) -> Value) throws(ThumbnailError) -> Value {
    do throws(CodecError) { return try body() } catch { throw ThumbnailError(error, of: configuration) }
  }
}

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
  /// Other variants are wanted since the visit was queued. The body is open, and nothing is decoded.
  case requestsChanged

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

/// One decode of an image, and what it takes.
struct Decode: Sendable {
  /// How the image is decoded.
  enum Method: Sendable {
    case plan(DecodePlan)
    /// From the preview in the file.
    case preview
    /// As the helper chooses, which alone reads the header.
    case unplanned
  }

  let method: Method
  var request: HelperRequest
  let description: String
  /// The memory that it takes of the budget.
  let bytes: Int
  /// The strict decode of a damaged image, if this one salvages the readable part.
  var strict: Decoded?

  var plan: DecodePlan? { if case .plan(let plan) = method { plan } else { nil } }
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
