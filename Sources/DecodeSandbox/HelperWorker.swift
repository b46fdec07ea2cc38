import CVips
import Foundation
import ImageCodec
import ThumbnailCore

/// Decodes in the helper: with the pipeline's own readers for the formats that they support, with libvips' other
/// loaders for the rest.
struct HelperWorker {
  let memoryLimit: Int

  /// One outcome per variant, and the bytes of the thumbnails.
  func carryOut(_ request: HelperRequest, _ image: FileDescriptor) -> (HelperResponse, [Data]) {
    let variants = request.variants.compactMap { Variant(token: $0) }
    let body = ByteSource.file(image, count: request.byteCount)
    do throws(CodecError) {
      guard variants.count == request.variants.count else { throw .invalidSize(PixelSize(0, 0)) }
      let results: [RenderedVariant]
      if request.format.isReadInProcess {
        let probe = try probe(body, limits: request.limits)
        results = try render(variants, acceptsDamage: request.acceptsDamage) {
          variants, isTolerant throws(CodecError) in
          try render(variants, of: body, probe: probe, isTolerant: isTolerant)
        }
      } else {
        let downsampler = HelperOnlyDownsampler(
          body: body, file: image, format: request.format, limits: request.limits, memoryLimit: memoryLimit,
          usesImageMagick: request.usesImageMagick)
        results = try render(variants, acceptsDamage: request.acceptsDamage) {
          variants, isTolerant throws(CodecError) in
          try downsampler.render(variants, isTolerant: isTolerant)
        }
      }
      return response(results, to: variants)
    } catch {
      let failure = isGzip(image) ? .notAPicture(looksLike: "gzip data without a whole SVG in it") : explained(error)
      return (HelperResponse(size: nil, outcomes: variants.map { _ in .init(failure: failure) }), [])
    }
  }

  /// Renders strictly first, and then, if requested, salvages what can be read of a damaged image.
  private func render(
    _ variants: [Variant], acceptsDamage: Bool,
    _ render: (_ variants: [Variant], _ isTolerant: Bool) throws(CodecError) -> [RenderedVariant]
  ) throws(CodecError) -> [RenderedVariant] {
    let results = try render(variants, false)
    guard acceptsDamage else { return results }
    return Downsampler.salvaging(results) { damaged throws(CodecError) in try render(damaged, true) }
  }

  /// The same for a format that is read in process. What the coefficient decoder hands over is read by libvips.
  private func render(
    _ variants: [Variant], of body: ByteSource, probe: ImageProbe, isTolerant: Bool
  ) throws(CodecError) -> [RenderedVariant] {
    for mayReadCoefficients in [!isTolerant, false] {
      let plan = try DecodePlan.make(
        probe: probe, bodyLength: body.count, variants: variants, memoryBudget: memoryLimit, isTolerant: isTolerant,
        mayReadCoefficients: mayReadCoefficients)
      let results = Downsampler.render(body, plan: plan, cancellation: CancellationFlag())
      let isHandedOver = results.contains { if case .failure(.handedOver) = $0.result { true } else { false } }
      if !isHandedOver { return results }
    }
    return []
  }

  private func response(_ results: [RenderedVariant], to variants: [Variant]) -> (HelperResponse, [Data]) {
    var response = HelperResponse(size: nil, outcomes: [])
    var bodies: [Data] = []
    for variant in variants {
      switch results.first(where: { $0.variant == variant })?.result {
      case .success(let thumbnail)?:
        response.size = thumbnail.source.size
        response.outcomes.append(
          .init(
            size: thumbnail.size, format: thumbnail.format, byteCount: thumbnail.data.count,
            isDamaged: thumbnail.isDamaged))
        bodies.append(thumbnail.data)
      case .failure(let error)?:
        response.outcomes.append(.init(failure: explained(error)))
      case nil:
        response.outcomes.append(.init(failure: .damaged(.shrink, detail: "no thumbnail was made")))
      }
    }
    return (response, bodies)
  }

  private func isGzip(_ image: FileDescriptor) -> Bool {
    (try? ByteSource.file(image, count: 2).read(at: 0, length: 2)) == [0x1F, 0x8B]
  }

  /// Distinguishes lack of memory from a fault of the image. libvips says so only in its error text, which is reliable
  /// here since only one image is decoded at a time.
  private func explained(_ error: CodecError) -> CodecError {
    switch error {
    case .exceedsMemoryBudget: return .helperFailed(.outOfMemory(limit: memoryLimit))
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
