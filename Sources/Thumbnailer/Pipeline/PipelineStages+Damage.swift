import ImageCodec
import ThumbnailCore

/// Decoding of an image that is truncated or damaged.
extension PipelineStages {
  /// If damage is accepted, decodes failed variants again, as far as the image can be read. A variant that fails again
  /// keeps its first error.
  func salvaging(
    _ results: [RenderedVariant], of source: ImageSource, from body: SourceBody, probe: ImageProbe,
    priority: PriorityControl
  ) async throws(ThumbnailError) -> [RenderedVariant] {
    let damaged = results.filter(\.isOfDamagedImage).map(\.variant)
    guard configuration.damaged == .accept, !damaged.isEmpty,
      let plan = try? DecodePlan.make(
        probe: probe, bodyLength: body.bytes.count, variants: damaged, memoryBudget: decodes.capacity,
        isTolerant: true, mayReadCoefficients: false)
    else { return results }
    let bytes = body.bytes
    let (second, _) = try await decode(
      "\(plan), as far as it can be read", reserving: plan.predictedBytes, of: bytes, source: source,
      priority: priority
    ) { cancellation in
      Downsampler.render(bytes, plan: plan, cancellation: cancellation)
    }
    return Downsampler.salvaging(results) { _ in second }
  }
}
