import ImageCodec
import ThumbnailCore

/// Which variants of an image can be made within the available memory.
extension PipelineStages {
  /// Separates the variants that can be made within the available memory from those that cannot, even alone.
  func sort(
    _ variants: [Variant], probe: ImageProbe, body: SourceBody
  ) -> (affordable: [Variant], tooDear: [(Variant, Result<Thumbnail, ThumbnailError>)]) {
    var affordable: [Variant] = []
    var tooDear: [(Variant, Result<Thumbnail, ThumbnailError>)] = []
    for variant in variants {
      do throws(CodecError) {
        _ = try plan([variant], probe: probe, body: body)
        affordable.append(variant)
      } catch {
        tooDear.append((variant, .failure(ThumbnailError(error, of: configuration))))
      }
    }
    return (affordable, tooDear)
  }

  /// Separates the variants whose decode may run beside others from those whose decode may not.
  func partition(
    _ variants: [Variant], probe: ImageProbe, body: SourceBody
  ) -> (modest: [Variant], dear: [Variant]) {
    let isModest = variants.map { variant in
      (try? plan([variant], probe: probe, body: body)).map { $0.predictedBytes <= admission.share } ?? false
    }
    let marked = zip(variants, isModest)
    return (marked.filter(\.1).map(\.0), marked.filter { !$0.1 }.map(\.0))
  }

  /// Refuses an image of which not even the smallest thumbnail can be made within the budget: that is an error for all
  /// waiters, and is cached.
  func checkThatSomeSizeCanBeMade(probe: ImageProbe, body: SourceBody) throws(ThumbnailError) {
    do throws(CodecError) {
      _ = try plan([Variant(size: PixelSize(1, 1), fit: .contain)], probe: probe, body: body)
    } catch {
      throw ThumbnailError(error, of: configuration)
    }
  }

  func plan(_ variants: [Variant], probe: ImageProbe, body: SourceBody) throws(CodecError) -> DecodePlan {
    func make(within bytes: Int) throws(CodecError) -> DecodePlan {
      try DecodePlan.make(
        probe: probe, bodyLength: body.bytes.count, variants: variants, memoryBudget: bytes,
        mayReadCoefficients: body.mayReadCoefficients)
    }
    var plan: DecodePlan
    do throws(CodecError) {
      plan = try make(within: admission.share)
    } catch {
      guard case .exceedsMemoryBudget(let needed, _) = error else { throw error }
      if needed > admission.most { throw .exceedsMemoryBudget(needed: needed, budget: admission.most) }
      // No plan fits beside others: use the cheapest, alone.
      plan = try make(within: needed)
    }
    plan.isBodyWhole = body.isComplete
    return plan
  }
}
