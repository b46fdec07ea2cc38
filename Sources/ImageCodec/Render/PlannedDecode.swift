package import ThumbnailCore

/// What was made of an image, or what is needed for that.
package struct DecodedImage {
  /// Its size, upright; nil if nothing was made.
  package var size: PixelSize?
  /// One result for each variant, unless something is needed.
  package var results: [Rendered<ThumbnailRaster>]
  /// The row index of a JPEG, if it has changed.
  package var index: RowIndex?
  /// The plan in words; empty if nothing was decoded by a plan.
  package var plan = ""
  /// The predicted memory of the plan in bytes.
  package var planBytes = 0
  /// Whether it is made of a preview that was compared with the image.
  package var usesPreview = false
  /// Why there are no results.
  package var need: DecodeNeed?

  package init(size: PixelSize? = nil, results: [Rendered<ThumbnailRaster>] = [], need: DecodeNeed? = nil) {
    (self.size, self.results, self.need) = (size, results, need)
  }
}

/// One image on its way from bytes to pixels: which image of its file is read, by which reader, and what follows where
/// that fails.
///
/// Blocks the calling thread, which must be one of a pool that calls `Codec.threadWillEnd()` when it ends.
package struct PlannedDecode {
  private var body: ByteSource
  private var probe: ImageProbe
  private var terms: DecodeTerms
  private let usesTwoThreads: Bool
  private let index: SharedIndex?
  private let cancellation: CancellationFlag
  /// Whether readers of coefficients and of a HEIC's items may be used: not after they have handed the image over.
  private var mayReadCoefficients = true
  /// Whether the file was put together of parts that may be wrong.
  private let hasGaps: Bool
  private var made: DecodedImage

  package init(
    _ body: ByteSource, _ probe: ImageProbe, _ terms: DecodeTerms, usesTwoThreads: Bool = false,
    index: SharedIndex? = nil, cancellation: CancellationFlag
  ) {
    (self.body, self.probe, self.terms, made) = (body, probe, terms, DecodedImage(size: probe.size))
    (self.usesTwoThreads, self.index, self.cancellation) = (usesTwoThreads, index, cancellation)
    hasGaps = terms.part?.hasGaps == true
  }

  /// Decodes the image for these variants.
  package mutating func run(_ variants: [Variant], limits: DecodeLimits) -> DecodedImage {
    do throws(DecodeNeed) {
      if probe.isRAW { try choosePreview(of: variants, limits) }
      try decode(variants)
    } catch {
      made.need = error
    }
    return made
  }

  /// Goes on with the JPEG that is read in place of a RAW file's image.
  private mutating func choosePreview(of variants: [Variant], _ limits: DecodeLimits) throws(DecodeNeed) {
    if let part = terms.part, let ranges = RAWPreview.neededRanges(for: variants, of: probe), !part.has(ranges) {
      throw .wholeBody
    }
    let preview: RAWPreview
    do throws(CodecError) {
      preview = try RAWPreview(variants, of: probe, in: body, limits: limits)
    } catch {
      // The others may be in parts that were not downloaded.
      throw hasGaps ? .wholeBody : .refusal(error)
    }
    if hasGaps, !preview.hasEnd { throw .wholeBody }
    (body, probe, made.plan) = (preview.bytes, preview.probe, "\(preview.description): ")
    (terms.part, terms.previews) = (nil, .off)
  }

  /// Decodes what there is memory for: from the preview, or from the image.
  private mutating func decode(_ variants: [Variant]) throws(DecodeNeed) {
    let plan: DecodePlan
    var refused: [Rendered<ThumbnailRaster>] = []
    if let common = try? self.plan(variants) {
      if try decodePreview(variants) { return }
      plan = common
    } else {
      let affordable: [Variant]
      (affordable, refused) = try sort(variants)
      if affordable.isEmpty { return (made.results, made.plan) = (refused, "") }
      plan = try refusing { () throws(CodecError) in try self.plan(affordable) }
    }
    guard isEnough(for: plan) else { throw .wholeBody }
    if terms.isCutOnly, !plan.isCut { throw .refusal(.needsAllPixels) }
    let results = try pixels(plan)
    // The parts, which may be wrong, or the beginning of the file lack what another reader, or salvaging, needs.
    if results.contains(where: mayComeOfPart) { throw .wholeBody }
    if mayReadCoefficients, results.contains(where: \.isHandedOver) {
      mayReadCoefficients = false
      return try decode(variants)
    }
    made.results = try salvaging(results, of: plan) + refused
    (made.plan, made.planBytes) = ("\(made.plan)\(plan)", plan.predictedBytes)
  }

  /// The cheapest plan that is good enough for all the variants: beside other decodes if possible, else alone.
  private func plan(_ variants: [Variant]) throws(CodecError) -> DecodePlan {
    do throws(CodecError) {
      return try plan(variants, within: terms.share)
    } catch {
      guard case .exceedsMemoryBudget(let needed, _) = error else { throw error }
      if needed > terms.most { throw .exceedsMemoryBudget(needed: needed, budget: terms.most) }
      return try plan(variants, within: needed)
    }
  }

  private func plan(
    _ variants: [Variant], within bytes: Int, isTolerant: Bool = false
  ) throws(CodecError) -> DecodePlan {
    try DecodePlan.make(
      probe: probe, bodyLength: body.count, variants: variants, memoryBudget: bytes, isTolerant: isTolerant,
      isBodyWhole: terms.part == nil, mayReadCoefficients: mayReadCoefficients && !isTolerant)
  }

  /// Separates the variants that can be made within the available memory from those that cannot, even alone.
  ///
  /// - Throws: If not even the smallest thumbnail could be made.
  private func sort(
    _ variants: [Variant]
  ) throws(DecodeNeed) -> (affordable: [Variant], refused: [Rendered<ThumbnailRaster>]) {
    var (affordable, refused) = ([Variant](), [Rendered<ThumbnailRaster>]())
    for variant in variants {
      do throws(CodecError) {
        _ = try plan([variant])
        affordable.append(variant)
      } catch {
        refused.append(Rendered(variant: variant, result: .failure(error)))
      }
    }
    if affordable.isEmpty {
      let smallest = Variant(size: PixelSize(1, 1), fit: .contain)
      _ = try refusing { () throws(CodecError) in try plan([smallest]) }
    }
    return (affordable, refused)
  }

  private func refusing<Value>(_ body: () throws(CodecError) -> Value) throws(DecodeNeed) -> Value {
    do throws(CodecError) { return try body() } catch { throw .refusal(error) }
  }

  /// Decodes the preview in the file. False if there is none for these variants, or it does not match.
  private mutating func decodePreview(_ variants: [Variant]) throws(DecodeNeed) -> Bool {
    guard
      let preview = PreviewPlan(
        variants, probe: probe, memoryBudget: terms.share, previews: terms.previews, isBodyWhole: terms.part == nil),
      terms.part?.has(preview.preview.neededRanges) ?? true
    else { return false }
    if preview.predictedBytes > terms.memory { throw .memory(preview.predictedBytes) }
    guard let results = Downsampler.pixels(of: body, preview: preview, cancellation: cancellation) else {
      if terms.part != nil { throw .bodyOfImage }
      terms.previews = .off
      return false
    }
    (made.results, made.usesPreview) = (results, true)
    (made.plan, made.planBytes) = ("embedded preview, \(preview.plan)", preview.predictedBytes)
    return true
  }

  /// Carries out a plan that there is memory for.
  private func pixels(_ plan: DecodePlan) throws(DecodeNeed) -> [Rendered<ThumbnailRaster>] {
    if plan.predictedBytes > terms.memory { throw .memory(plan.predictedBytes) }
    return Downsampler.pixels(
      of: body, plan: plan, onTwoThreads: usesTwoThreads, index: plan.usesIndex ? index : nil,
      cancellation: cancellation)
  }

  /// Whether the bytes suffice for the plan.
  private func isEnough(for plan: DecodePlan) -> Bool {
    guard let part = terms.part else { return true }
    if let ranges = plan.neededRanges { return part.has(ranges) }
    guard let finest = part.finestScale, let wanted = plan.coefficientScale else { return false }
    return wanted <= finest
  }

  /// Whether a failure may be due to what is missing.
  private func mayComeOfPart(_ made: Rendered<ThumbnailRaster>) -> Bool {
    guard case .failure(let error) = made.result else { return false }
    return switch error {
    case .handedOver: terms.part != nil
    case .truncated: terms.part != nil || hasGaps
    case .damaged: hasGaps || terms.part != nil && terms.acceptsDamage
    default: false
    }
  }

  /// The results, with the readable part of a damaged image where that is wanted. A variant that fails again keeps its
  /// first error.
  private func salvaging(
    _ results: [Rendered<ThumbnailRaster>], of plan: DecodePlan
  ) throws(DecodeNeed) -> [Rendered<ThumbnailRaster>] {
    let damaged = results.filter(\.isOfDamagedImage).map(\.variant)
    let budget = plan.predictedBytes > terms.share ? terms.most : terms.share
    guard terms.acceptsDamage, !damaged.isEmpty,
      let tolerant = try? self.plan(damaged, within: budget, isTolerant: true)
    else { return results }
    let second = try pixels(tolerant)
    // Only another helper can salvage it.
    if second.contains(where: \.needsLibvips) { return second }
    return Downsampler.salvaging(results) { _ in second }
  }
}

extension Rendered {
  fileprivate var isHandedOver: Bool { if case .failure(.handedOver) = result { true } else { false } }
  /// Whether it can only be made where libvips may be started.
  package var needsLibvips: Bool { if case .failure(.needsLibvips) = result { true } else { false } }
}
