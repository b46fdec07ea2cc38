import ImageCodec
import ThumbnailCore

/// Plans decodes within the memory that is available: which variants can be made, and how.
struct DecodePlanner: Sendable {
  let admission: DecodeAdmission
  let configuration: ThumbnailPipeline.Configuration

  /// The cheapest plan that is good enough for all the variants: beside other decodes if that is possible, else alone.
  func plan(_ variants: [Variant], _ probe: ImageProbe, of body: SourceBody) throws(CodecError) -> DecodePlan {
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
      do throws(CodecError) {
        _ = try plan([Variant(size: PixelSize(1, 1), fit: .contain)], probe, of: body)
      } catch {
        throw ThumbnailError(error, of: configuration)
      }
    }
    return (affordable, overBudget)
  }

  /// Separates the variants whose decode may run beside others from those whose decode may not.
  func partition(
    _ variants: [Variant], _ probe: ImageProbe, of body: SourceBody
  ) -> (concurrent: [Variant], alone: [Variant]) {
    var (concurrent, alone): ([Variant], [Variant]) = ([], [])
    for variant in variants {
      let isConcurrent = (try? plan([variant], probe, of: body)).map { $0.predictedBytes <= admission.share } ?? false
      if isConcurrent { concurrent.append(variant) } else { alone.append(variant) }
    }
    return (concurrent, alone)
  }
}
