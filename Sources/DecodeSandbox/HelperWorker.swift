import CVips
import Glibc
import ImageCodec
import ThumbnailCore

/// Decodes in the helper: with the pipeline's own readers for the formats that they support, with libvips' other
/// loaders for the rest.
final class HelperWorker {
  private let memoryLimit: Int
  private let kind: HelperKind
  /// The variants of the last request, which are mostly those of the next one.
  private var known: (tokens: [String], variants: [Variant]) = ([], [])

  /// `memoryLimit` is the most address space, in bytes, beyond the program itself.
  init(_ kind: HelperKind, memoryLimit: Int) { (self.kind, self.memoryLimit) = (kind, memoryLimit) }

  /// The result for each variant, in the order of the plan, and the image's size.
  private typealias Results = (results: [Rendered<ThumbnailRaster>], size: PixelSize)

  /// One outcome per variant, and the thumbnails' samples and profiles.
  func carryOut(_ request: HelperRequest, _ image: ByteSource) -> (HelperResponse, [HelperAttachment]) {
    let variants = variants(request.variants)
    do throws(CodecError) {
      guard variants.count == request.variants.count else { throw .invalidSize(PixelSize(0, 0)) }
      guard kind == .full || request.format.isReadInProcess else { throw .needsLibvips }
      let index = request.index.map { SharedIndex($0) }
      var (response, attachments) = try response(render(request, image, variants, index), to: variants)
      if index?.value != request.index { response.index = index?.value }
      return (response, attachments)
    } catch {
      if error == .needsLibvips { return (HelperResponse(size: nil, outcomes: [], needsLibvips: true), []) }
      let failure = isGzip(image) ? .notAPicture(looksLike: "gzip data without a whole SVG in it") : explained(error)
      return (HelperResponse(size: nil, outcomes: variants.map { _ in .failure(failure) }), [])
    }
  }

  private func variants(_ tokens: [String]) -> [Variant] {
    if known.tokens != tokens { known = (tokens, tokens.compactMap { Variant(token: $0) }) }
    return known.variants
  }

  private func render(
    _ request: HelperRequest, _ image: ByteSource, _ variants: [Variant], _ index: SharedIndex?
  ) throws(CodecError) -> Results {
    guard request.format.isReadInProcess else {
      guard case .file(let file, _) = image else { throw .unreadableBody(detail: "it is in no file") }
      let downsampler = HelperOnlyDownsampler(
        body: image, file: file, format: request.format, limits: request.limits, memoryLimit: memoryLimit)
      return try render(variants, acceptsDamage: request.acceptsDamage) { variants, isTolerant throws(CodecError) in
        try downsampler.pixels(for: variants, isTolerant: isTolerant)
      }
    }
    var body = try inMemory(image)
    var probe = try probe(body, limits: request.limits)
    let size = probe.size
    if probe.isRAW {
      let preview = try RAWPreview(variants, of: probe, in: body, limits: request.limits)
      (body, probe) = (preview.bytes, preview.probe)
    }
    // The pipeline counts the processor of this thread.
    let spare = request.hasSpareProcessor ? SpareProcessors(1) : nil
    if let terms = request.terms { return (try pixels(of: body, probe, variants, terms, spare, index), size) }
    let (source, header) = (body, probe)
    return try render(variants, acceptsDamage: request.acceptsDamage) { variants, isTolerant throws(CodecError) in
      (try pixels(of: source, header, variants, isTolerant: isTolerant, spare), size)
    }
  }

  /// Carries out the pipeline's plan.
  private func pixels(
    of body: ByteSource, _ probe: ImageProbe, _ variants: [Variant], _ terms: PlanTerms, _ spare: SpareProcessors?,
    _ index: SharedIndex? = nil
  ) throws(CodecError) -> [Rendered<ThumbnailRaster>] {
    let memoryBudget = min(terms.memoryBudget, memoryLimit)
    if terms.readsPreview {
      guard
        let plan = PreviewPlan(variants, probe: probe, memoryBudget: memoryBudget, isBodyWhole: terms.isBodyWhole),
        let results = Downsampler.pixels(of: body, preview: plan, cancellation: CancellationFlag())
      else { throw .handedOver(reason: "the preview does not match") }
      return results
    }
    let plan = try DecodePlan.make(
      probe: probe, bodyLength: body.count, variants: variants, memoryBudget: memoryBudget,
      isTolerant: terms.isTolerant, isBodyWhole: terms.isBodyWhole, mayReadCoefficients: terms.mayReadCoefficients)
    return Downsampler.pixels(of: body, plan: plan, spare: spare, index: index, cancellation: CancellationFlag())
  }

  /// Files up to this length are read at once, in bytes.
  private static let shortFile = 1 << 20

  private func inMemory(_ image: ByteSource) throws(CodecError) -> ByteSource {
    guard case .file = image, image.count <= Self.shortFile else { return image }
    do {
      let bytes = try image.read(at: 0, length: image.count)
      return bytes.count == image.count ? .memory(bytes) : image
    } catch {
      throw .unreadableBody(detail: "\(error)")
    }
  }

  /// Renders strictly first, and then, if requested, salvages what can be read of a damaged image.
  private func render(
    _ variants: [Variant], acceptsDamage: Bool,
    _ render: (_ variants: [Variant], _ isTolerant: Bool) throws(CodecError) -> Results
  ) throws(CodecError) -> Results {
    let first = try render(variants, false)
    guard acceptsDamage else { return first }
    var needsLibvips = false
    let results = Downsampler.salvaging(first.results) { damaged throws(CodecError) in
      let second = try render(damaged, true).results
      needsLibvips = second.contains { $0.isForLibvips }
      return second
    }
    if needsLibvips { throw .needsLibvips }
    return (results, first.size)
  }

  /// The same for a format that is read in process. What the coefficient decoder hands over is read by libjpeg.
  private func pixels(
    of body: ByteSource, _ probe: ImageProbe, _ variants: [Variant], isTolerant: Bool, _ spare: SpareProcessors?
  ) throws(CodecError) -> [Rendered<ThumbnailRaster>] {
    for mayReadCoefficients in [!isTolerant, false] {
      let terms = PlanTerms(
        memoryBudget: memoryLimit, isTolerant: isTolerant, mayReadCoefficients: mayReadCoefficients)
      let results = try pixels(of: body, probe, variants, terms, spare)
      let isHandedOver = results.contains { if case .failure(.handedOver) = $0.result { true } else { false } }
      if !isHandedOver { return results }
    }
    return []
  }

  private func response(
    _ made: Results, to variants: [Variant]
  ) throws(CodecError) -> (HelperResponse, [HelperAttachment]) {
    if made.results.contains(where: \.isForLibvips) { throw .needsLibvips }
    var response = HelperResponse(size: made.size, outcomes: [])
    var attachments: [HelperAttachment] = []
    for variant in variants {
      switch made.results.first(where: { $0.variant == variant })?.result {
      case .success(let pixels)?:
        attachments.append(.samples(pixels.raster))
        if let profile = pixels.kept?.profile { attachments.append(.bytes(profile)) }
        response.outcomes.append(.pixels(HelperResponse.Pixels(pixels)))
      case .failure(let error)?: response.outcomes.append(.failure(explained(error)))
      case nil: response.outcomes.append(.failure(.damaged(.shrink, detail: "no thumbnail was made")))
      }
    }
    return (response, attachments)
  }

  private func isGzip(_ image: ByteSource) -> Bool {
    (try? image.read(at: 0, length: 2)) == [0x1F, 0x8B]
  }

  /// Distinguishes lack of memory from a fault of the image. libvips says so only in its error text, which is reliable
  /// here since only one image is decoded at a time.
  private func explained(_ error: CodecError) -> CodecError {
    switch error {
    case .exceedsMemoryBudget, .outOfMemory: return .helperFailed(.outOfMemory(limit: memoryLimit))
    case .damaged(_, let detail), .truncated(let detail), .unreadableBody(let detail):
      let words = detail.lowercased()
      // ImageMagick then tries temporary files, which the helper may not write.
      if words.contains("pixel cache") || words.contains("resources exhausted") {
        return .helperFailed(.imageMagickOutOfMemory)
      }
      let isMemory = ["out of memory", "memory allocation", "cannot allocate", "bad_alloc"]
        .contains { words.contains($0) }
      return isMemory ? .helperFailed(.outOfMemory(limit: memoryLimit)) : error
    default: return error
    }
  }
}

extension Rendered {
  fileprivate var isForLibvips: Bool { if case .failure(.needsLibvips) = result { true } else { false } }
}
