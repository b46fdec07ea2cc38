package import JPEGCoefficients
package import ThumbnailCore

/// Decides when an arriving body is sufficient for all variants currently requested.
///
/// This applies to a progressive JPEG if its first scans suffice for all of them, and, where previews are allowed, to an
/// image whose preview is large enough; also to a RAW file whose preview has arrived. The plan is made when the first
/// scan has arrived, and made again when
/// the demand has changed.
package struct EarlyStop: Sendable {
  /// How much of a body is needed.
  private enum Need {
    case whole
    case scans(JPEGScale)
    case head(length: Int)
  }

  private let demand: VariantDemand
  private let memoryBudget: Int
  private let mayReadCoefficients: Bool
  private let previews: PreviewUse
  private var scans = ScanWatcher()
  private var position = 0
  private var planned: (generation: Int, need: Need)?

  /// `memoryBudget` is the most bytes that a decode may take, as for the final plan.
  package init(
    demand: VariantDemand, memoryBudget: Int, mayReadCoefficients: Bool = true,
    previews: PreviewUse = .off
  ) {
    self.demand = demand
    self.memoryBudget = memoryBudget
    self.mayReadCoefficients = mayReadCoefficients
    self.previews = previews
  }

  /// The finest scale that the bytes so far are sufficient for; nil if any use needs the whole body.
  package var finestScale: JPEGScale? { scans.finestScale }

  /// Consumes the next bytes of the body, with `probe` once the header is known. True when no more are needed.
  package mutating func take(_ bytes: UnsafeRawBufferPointer, probe: ImageProbe?) -> Bool {
    scans.feed(bytes)
    position += bytes.count
    guard let probe, scans.finestScale != nil || probe.isRAW || probe.preview?.isPermitted(previews) == true
    else { return false }
    return switch need(of: probe) {
    case .whole: false
    case .scans(let scale): scans.sufficientLength(for: scale) != nil
    case .head(let length): position >= length
    }
  }

  /// How much of the body the plan for the current demand needs.
  private mutating func need(of probe: ImageProbe) -> Need {
    let wanted = demand.current
    if let planned, planned.generation == wanted.generation { return planned.need }
    let need = need(of: probe, for: Array(wanted.variants))
    planned = (wanted.generation, need)
    return need
  }

  private func need(of probe: ImageProbe, for variants: [Variant]) -> Need {
    // The demand is briefly empty after one variant is delivered and before the next is taken.
    if variants.isEmpty { return .whole }
    if probe.isRAW { return RAWPreview.sufficientLength(for: variants, of: probe).map { .head(length: $0) } ?? .whole }
    if let preview = PreviewPlan(variants, probe: probe, memoryBudget: memoryBudget, previews: previews) {
      return .head(length: preview.preview.sufficientLength)
    }
    let plan = try? DecodePlan.make(
      probe: probe, bodyLength: 0, variants: variants, memoryBudget: memoryBudget,
      mayReadCoefficients: mayReadCoefficients)
    // The coefficients of a sequential file are spread over all of it: the watcher never reports them.
    return plan?.coefficientScale.map { .scans($0) } ?? .whole
  }
}
