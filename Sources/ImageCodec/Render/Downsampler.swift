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
package enum Downsampler {
  /// The results after `again` has re-read the image for damaged variants: each keeps its first error if that fails
  /// too.
  ///
  /// Blocks, as `render` does, if anything is damaged.
  package static func salvaging(
    _ results: [RenderedVariant], again: (_ damaged: [Variant]) throws(CodecError) -> [RenderedVariant]
  ) -> [RenderedVariant] {
    let damaged = results.filter(\.isOfDamagedImage).map(\.variant)
    guard !damaged.isEmpty, let second = try? again(damaged) else { return results }
    return results.map { made in
      second.first { $0.variant == made.variant && (try? $0.result.get()) != nil } ?? made
    }
  }

  /// Renders the thumbnails of a plan, one result per variant, the largest first.
  ///
  /// Blocks the calling thread, which must be one of a pool that calls `Codec.threadWillEnd()` when it ends. It also
  /// shrinks stored thumbnails, which are bodies like any other.
  package static func render(
    _ body: ByteSource, plan: DecodePlan, cancellation: CancellationFlag
  ) -> [RenderedVariant] {
    let source = SourceDescription(size: plan.probe.size, format: plan.probe.format, byteCount: body.count)
    return plan.passes.flatMap { pass in
      let decoder = ImageDecoder(body: body, plan: plan, pass: pass, cancellation: cancellation)
      if pass.reader == .frames {
        return AnimationPass(plan: plan, pass: pass, decoder: decoder, source: source, cancellation: cancellation).run()
      }
      let kept = decoder.metadata(pass.steps.first?.variant.metadata ?? .none)
      return RenderPass(
        plan: plan, pass: pass, decoder: decoder, source: source, cancellation: cancellation, kept: kept
      ).run()
    }
  }
}
