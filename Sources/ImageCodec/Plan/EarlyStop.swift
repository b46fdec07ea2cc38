package import JPEGCoefficients
import ThumbnailCore

/// Decides when a body that is still arriving is enough for everything that is asked of it.
///
/// That is so with a progressive JPEG of which all that is asked comes from its first scans, and, where previews may be
/// used, with a sequential one whose preview is large enough. The plan is made as late as the first scan has arrived, and
/// anew when the demand has changed meanwhile.
package struct EarlyStop: Sendable {
  /// What of a body it takes.
  private enum Need {
    case whole
    case scans(JPEGScale)
    case head(length: Int)
  }

  private let demand: VariantDemand
  private let memoryBudget: Int
  private let mayReadCoefficients: Bool
  private let mayUsePreview: Bool
  private var scans = ScanWatcher()
  private var position = 0
  private var planned: (generation: Int, need: Need)?

  /// `memoryBudget` is what a decode may take in bytes, as for the plan that is made in the end.
  package init(
    demand: VariantDemand, memoryBudget: Int, mayReadCoefficients: Bool = true,
    mayUsePreview: Bool = false
  ) {
    self.demand = demand
    self.memoryBudget = memoryBudget
    self.mayReadCoefficients = mayReadCoefficients
    self.mayUsePreview = mayUsePreview
  }

  /// The finest scale that can be read of the bytes so far; nil when the whole body is needed for whatever it may be.
  package var finestScale: JPEGScale? { scans.finestScale }

  /// Takes the next bytes of the body, and `probe` as soon as its header is known. True when no more are needed.
  package mutating func take(_ bytes: UnsafeRawBufferPointer, probe: ImageProbe?) -> Bool {
    scans.feed(bytes)
    position += bytes.count
    guard let probe, scans.finestScale != nil || mayUsePreview && probe.preview != nil else { return false }
    return switch need(of: probe) {
    case .whole: false
    case .scans(let scale): scans.sufficientLength(for: scale) != nil
    case .head(let length): position >= length
    }
  }

  /// What the plan for all that is asked now takes.
  private mutating func need(of probe: ImageProbe) -> Need {
    let asked = demand.current
    if let planned, planned.generation == asked.generation { return planned.need }
    let need = need(of: probe, for: Array(asked.variants))
    planned = (asked.generation, need)
    return need
  }

  private func need(of probe: ImageProbe, for variants: [Variant]) -> Need {
    // Nobody asks for a moment when a variant is answered and the next not taken yet.
    if variants.isEmpty { return .whole }
    if mayUsePreview,
      let preview = PreviewDownsampler(variants, probe: probe, memoryBudget: memoryBudget)
    {
      return .head(length: preview.preview.sufficientLength)
    }
    let plan = try? DecodePlan.make(
      probe: probe, bodyLength: 0, variants: variants, memoryBudget: memoryBudget,
      mayReadCoefficients: mayReadCoefficients)
    // The coefficients of a sequential file stand all over it: the watcher never tells of them.
    return plan?.coefficientScale.map { .scans($0) } ?? .whole
  }
}
