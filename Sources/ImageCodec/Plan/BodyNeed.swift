import JPEGCoefficients
package import ThumbnailCore

/// The part of a body that all currently requested variants need, as far as the header shows.
package struct BodyNeed: Sendable {
  /// The needed bytes.
  enum Extent: Sendable {
    /// Any of them.
    case any
    /// The first scans of a progressive JPEG.
    case scans(JPEGScale)
    /// These, besides the header.
    case ranges(RangeSet<Int>)
  }

  private let demand: VariantDemand
  private let memoryBudget: Int
  private let mayReadCoefficients: Bool
  private let previews: PreviewUse
  private let isAtHand: Bool
  private var known: (generation: Int, extent: Extent)?

  /// `memoryBudget` is the most bytes that a decode may take, as for the final plan. The rest of a body that `isAtHand`
  /// costs little: a JPEG is read to its end, so that a truncated one is refused.
  package init(
    demand: VariantDemand, memoryBudget: Int, mayReadCoefficients: Bool = true, previews: PreviewUse = .off,
    isAtHand: Bool = false
  ) {
    self.demand = demand
    self.memoryBudget = memoryBudget
    self.mayReadCoefficients = mayReadCoefficients
    self.previews = previews
    self.isAtHand = isAtHand
  }

  /// Whether a part of the body may suffice for an image of this kind, apart from the scans of a JPEG.
  func mayBeRanges(_ probe: ImageProbe) -> Bool {
    probe.isRAW || probe.heif != nil || probe.tiff?.levels.isEmpty == false
      || probe.preview?.isPermitted(previews) == true
  }

  /// The extent for the current demand; computed anew when it has changed.
  mutating func extent(_ probe: ImageProbe) -> Extent {
    let wanted = demand.current
    if let known, known.generation == wanted.generation { return known.extent }
    let extent = extent(probe, for: Array(wanted.variants))
    known = (wanted.generation, extent)
    return extent
  }

  private func extent(_ probe: ImageProbe, for variants: [Variant]) -> Extent {
    // The demand is briefly empty after one variant is delivered and before the next is taken.
    if variants.isEmpty { return .any }
    if probe.isRAW { return RAWPreview.neededRanges(for: variants, of: probe).map { .ranges($0) } ?? .any }
    if let preview = PreviewPlan(variants, probe: probe, memoryBudget: memoryBudget, previews: previews) {
      return .ranges(preview.preview.neededRanges)
    }
    let plan = try? DecodePlan.make(
      probe: probe, bodyLength: 0, variants: variants, memoryBudget: memoryBudget,
      mayReadCoefficients: mayReadCoefficients)
    if let ranges = plan?.neededRanges { return .ranges(ranges) }
    // The coefficients of a sequential file are spread over all of it: the watcher never reports them.
    return isAtHand ? .any : plan?.coefficientScale.map { .scans($0) } ?? .any
  }
}
