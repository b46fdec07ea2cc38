package import ThumbnailCore

/// What became of one variant.
package struct RenderedVariant: Sendable {
  /// What was asked.
  package let variant: Variant
  /// The thumbnail, or why there is none.
  package let result: Result<Thumbnail, CodecError>

  package init(variant: Variant, result: Result<Thumbnail, CodecError>) {
    self.variant = variant
    self.result = result
  }

  /// Whether there is no thumbnail because of what is wrong with the picture.
  package var isOfDamagedPicture: Bool { if case .failure(let error) = result { error.isDamage } else { false } }
}

/// Carries out a plan: decodes once, makes every thumbnail, encodes each.
package enum Downsampler {
  /// What comes of a first rendering once `again` has read anew what is damaged: what could be read, else the first error.
  ///
  /// Blocks, as `render` does, where anything is damaged.
  package static func salvaging(
    _ results: [RenderedVariant], again: (_ damaged: [Variant]) throws(CodecError) -> [RenderedVariant]
  ) -> [RenderedVariant] {
    let damaged = results.filter(\.isOfDamagedPicture).map(\.variant)
    guard !damaged.isEmpty, let second = try? again(damaged) else { return results }
    return results.map { made in
      second.first { $0.variant == made.variant && (try? $0.result.get()) != nil } ?? made
    }
  }

  /// Renders the thumbnails of a plan, one result for each variant, the largest first.
  ///
  /// Blocks the calling thread, which must be one of a pool that calls `Codec.threadWillEnd()` when it ends. The same
  /// function shrinks a stored thumbnail: that is a body like any other.
  package static func render(
    _ body: ByteSource, plan: DecodePlan, cancellation: CancellationFlag
  ) -> [RenderedVariant] {
    let source = SourceDescription(size: plan.probe.size, format: plan.probe.format, byteCount: body.count)
    return plan.passes.flatMap { pass in
      let decoder = PictureDecoder(body: body, plan: plan, pass: pass, cancellation: cancellation)
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
