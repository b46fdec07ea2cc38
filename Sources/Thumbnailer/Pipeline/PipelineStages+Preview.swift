import ImageCodec
import ThumbnailCore

/// Thumbnails made from the preview in an image's EXIF data.
extension PipelineStages {
  /// Makes all the variants from the preview; nil if it does not suffice for all, `.needsPicture` if it does not match
  /// the image.
  func renderFromPreview(
    _ variants: [Variant], of source: ImageSource, from body: SourceBody, probe: ImageProbe, priority: PriorityControl
  ) async throws(ThumbnailError) -> Rendering? {
    guard body.mayUsePreview,
      let preview = PreviewPlan(variants, probe: probe, memoryBudget: decodes.capacity),
      body.isComplete || body.bytes.count >= preview.preview.sufficientLength
    else { return nil }
    let plan = "embedded preview, \(preview.plan)"
    let (results, duration) = try await decode(
      plan, reserving: preview.predictedBytes, of: body.bytes, source: source, priority: priority
    ) { cancellation in
      Downsampler.render(body.bytes, preview: preview, cancellation: cancellation)
    }
    try checkUnchanged(body)
    guard let results else { return .needsPicture }
    events.send(source, .rendered(variants, duration: duration))
    let made = results.map { made in
      let result = made.result.map { body.completing($0) }
      return (made.variant, result.mapError { ThumbnailError($0, of: configuration) })
    }
    return .done(made, plan: plan)
  }
}
