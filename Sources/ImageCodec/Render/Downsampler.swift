package import ThumbnailCore

/// The result for one variant.
package struct RenderedVariant: Sendable {
  /// The requested variant.
  package let variant: Variant
  /// The thumbnail, or the error.
  package let result: Result<Thumbnail, CodecError>

  package init(variant: Variant, result: Result<Thumbnail, CodecError>) {
    self.variant = variant
    self.result = result
  }

  /// Whether there is no thumbnail because the image is damaged.
  package var isOfDamagedImage: Bool { if case .failure(let error) = result { error.isDamage } else { false } }
}

/// Carries out a plan: decodes once, then downsamples and encodes every thumbnail.
///
/// Its methods block the calling thread, which must be one of a pool that calls `Codec.threadWillEnd()` when it ends.
package enum Downsampler {
  /// Renders the thumbnails of a plan, one result per variant, the largest first. It also shrinks stored thumbnails,
  /// which are bodies like any other.
  ///
  /// `source` describes the image if the body is a smaller one in its place, `processors` are the program's own.
  package static func render(
    _ body: ByteSource, plan: DecodePlan, of source: SourceDescription? = nil, processors: [ThumbnailProcessor] = [],
    cancellation: CancellationFlag
  ) -> [RenderedVariant] {
    let source =
      source ?? SourceDescription(size: plan.probe.size, format: plan.probe.format, byteCount: body.count)
    return plan.passes.flatMap { pass in
      let decoder = ImageDecoder(body: body, plan: plan, pass: pass, cancellation: cancellation)
      return RenderPass(decoder: decoder, source: source, processors: processors).run()
    }
  }

  /// Renders from the preview in the body; nil if it cannot be read or does not match the image.
  package static func render(
    _ body: ByteSource, preview: PreviewPlan, processors: [ThumbnailProcessor] = [], cancellation: CancellationFlag
  ) -> [RenderedVariant]? {
    let range = preview.preview.range
    guard let bytes = try? body.read(at: range.lowerBound, length: range.count), bytes.count == range.count else {
      return nil
    }
    let small = ByteSource.memory(bytes)
    let comparison = PreviewComparison(preview, small, body: body, cancellation: cancellation)
    guard let isAlike = try? comparison.isAlike, isAlike else { return nil }
    let source = SourceDescription(size: preview.probe.size, format: preview.probe.format, byteCount: body.count)
    let rendered = render(
      small, plan: preview.plan, of: source, processors: processors, cancellation: cancellation)
    return rendered.allSatisfy { (try? $0.result.get()) != nil } ? rendered : nil
  }

  /// The results after `again` has re-read the image for damaged variants: each keeps its first error if that fails
  /// too.
  package static func salvaging(
    _ results: [RenderedVariant], again: (_ damaged: [Variant]) throws(CodecError) -> [RenderedVariant]
  ) -> [RenderedVariant] {
    let damaged = results.filter(\.isOfDamagedImage).map(\.variant)
    guard !damaged.isEmpty, let second = try? again(damaged) else { return results }
    return results.map { made in
      second.first { $0.variant == made.variant && (try? $0.result.get()) != nil } ?? made
    }
  }
}
