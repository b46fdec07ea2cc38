import JPEGCoefficients
package import ThumbnailCore

/// How much of a body all variants currently requested need, as far as the header tells.
package struct BodyNeed: Sendable {
  /// Which bytes are needed.
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

  /// `memoryBudget` is the most bytes that a decode may take, as for the final plan. Of what `isAtHand` the rest costs
  /// little: a JPEG is read to its end, so that one that was cut off is refused as a whole file is.
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

  /// Whether the image is of a kind of which less than the whole body may be needed, scans of a JPEG aside.
  func mayBeRanges(_ probe: ImageProbe) -> Bool {
    probe.isRAW || probe.heif != nil || probe.tiff?.levels.isEmpty == false
      || probe.preview?.isPermitted(previews) == true
  }

  /// What the current demand needs; worked out anew when it has changed.
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
