package import ThumbnailCore

/// Carries out a plan: decodes once, then downsamples and encodes every thumbnail.
///
/// Its methods block the calling thread, which must be one of a pool that calls `Codec.threadWillEnd()` when it ends.
package enum Downsampler {
  /// Renders the thumbnails of a plan, one result per variant, the largest first. It also shrinks stored thumbnails,
  /// which are bodies like any other.
  ///
  /// `source` describes the image if the body is a smaller one in its place, `processors` are the program's own steps,
  /// `spare` are the machine's processors for a second thread. `makesMicroThumbnails` adds one to each thumbnail.
  package static func render(
    _ body: ByteSource, plan: DecodePlan, of source: SourceDescription? = nil, processors: [ThumbnailProcessor] = [],
    spare: SpareProcessors? = nil, makesMicroThumbnails: Bool = false, cancellation: CancellationFlag
  ) -> [RenderedVariant] {
    let source =
      source
      ?? SourceDescription(
        size: plan.probe.origin?.size ?? plan.probe.size, format: plan.probe.origin?.format ?? plan.probe.format,
        byteCount: body.count)
    let finisher = ThumbnailFinisher(
      source: source, processors: processors, makesMicroThumbnails: makesMicroThumbnails)
    return carryOut(plan, body, spare, cancellation) { pixels throws(CodecError) in
      try finisher.thumbnail(of: pixels)
    }
  }

  /// Renders the thumbnails of a plan, but leaves it to another process to encode them.
  package static func pixels(
    of body: ByteSource, plan: DecodePlan, spare: SpareProcessors? = nil, cancellation: CancellationFlag
  ) -> [Rendered<ThumbnailRaster>] {
    carryOut(plan, body, spare, cancellation) { pixels in pixels }
  }

  private static func carryOut<Product>(
    _ plan: DecodePlan, _ body: ByteSource, _ spare: SpareProcessors?, _ cancellation: CancellationFlag,
    _ finish: (ThumbnailRaster) throws(CodecError) -> Product
  ) -> [Rendered<Product>] {
    plan.passes.flatMap { pass in
      let decoder = ImageDecoder(body: body, plan: plan, pass: pass, cancellation: cancellation, spare: spare)
      return RenderPass(decoder: decoder).run(finish)
    }
  }

  /// Renders from the preview in the body; nil if it cannot be read or does not match the image.
  package static func render(
    _ body: ByteSource, preview: PreviewPlan, processors: [ThumbnailProcessor] = [], makesMicroThumbnails: Bool = false,
    cancellation: CancellationFlag
  ) -> [RenderedVariant]? {
    let source = SourceDescription(size: preview.probe.size, format: preview.probe.format, byteCount: body.count)
    let finisher = ThumbnailFinisher(
      source: source, processors: processors, makesMicroThumbnails: makesMicroThumbnails)
    return carryOut(preview, body, cancellation) { pixels throws(CodecError) in try finisher.thumbnail(of: pixels) }
  }

  /// The same, but leaves it to another process to encode them.
  package static func pixels(
    of body: ByteSource, preview: PreviewPlan, cancellation: CancellationFlag
  ) -> [Rendered<ThumbnailRaster>]? {
    carryOut(preview, body, cancellation) { pixels in pixels }
  }

  private static func carryOut<Product>(
    _ preview: PreviewPlan, _ body: ByteSource, _ cancellation: CancellationFlag,
    _ finish: (ThumbnailRaster) throws(CodecError) -> Product
  ) -> [Rendered<Product>]? {
    if preview.preview.heif != nil {
      // The reader of its items compares it with the image.
      let rendered = carryOut(preview.plan, body, nil, cancellation, finish)
      return rendered.allSatisfy { (try? $0.result.get()) != nil } ? rendered : nil
    }
    let range = preview.preview.range
    guard let bytes = try? body.read(at: range.lowerBound, length: range.count), bytes.count == range.count else {
      return nil
    }
    let small = ByteSource.memory(bytes)
    let comparison = PreviewComparison(preview, small, body: body, cancellation: cancellation)
    guard let isAlike = try? comparison.isAlike, isAlike else { return nil }
    let rendered = carryOut(preview.plan, small, nil, cancellation, finish)
    return rendered.allSatisfy { (try? $0.result.get()) != nil } ? rendered : nil
  }

  /// The results after `again` has re-read the image for damaged variants: each keeps its first error if that fails
  /// too.
  package static func salvaging<Product>(
    _ results: [Rendered<Product>], again: (_ damaged: [Variant]) throws(CodecError) -> [Rendered<Product>]
  ) -> [Rendered<Product>] {
    let damaged = results.filter(\.isOfDamagedImage).map(\.variant)
    guard !damaged.isEmpty, let second = try? again(damaged) else { return results }
    return results.map { made in
      second.first { $0.variant == made.variant && (try? $0.result.get()) != nil } ?? made
    }
  }
}
