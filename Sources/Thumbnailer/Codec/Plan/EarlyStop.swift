/// Decides when a body that is still arriving is enough for everything that is asked of it.
///
/// That is so only with a progressive JPEG of which all that is asked comes from its first scans. The plan is made as
/// late as the first of them has arrived, and anew when the demand has changed meanwhile.
struct EarlyStop: Sendable {
  private let demand: VariantDemand
  private let memoryBudget: Int
  private let mayReadCoefficients: Bool
  private var scans = ScanWatcher()
  private var planned: (generation: Int, scale: JPEGScale?)?

  /// `memoryBudget` is what a decode may take in bytes, as for the plan that is made in the end.
  init(
    demand: VariantDemand, memoryBudget: Int, mayReadCoefficients: Bool = DecodePlan.readsCoefficients
  ) {
    self.demand = demand
    self.memoryBudget = memoryBudget
    self.mayReadCoefficients = mayReadCoefficients
  }

  /// The finest scale that can be read of the bytes so far; nil when the whole body is needed for whatever it may be.
  var finestScale: JPEGScale? { scans.finestScale }

  /// Takes the next bytes of the body, and `probe` as soon as its header is known. True when no more are needed.
  mutating func take(_ bytes: UnsafeRawBufferPointer, probe: ImageProbe?) -> Bool {
    scans.feed(bytes)
    guard scans.finestScale != nil, let probe, let scale = scaleAsked(of: probe) else { return false }
    return scans.sufficientLength(for: scale) != nil
  }

  /// The scale that the plan for all that is asked now reads; nil when it reads the whole body.
  private mutating func scaleAsked(of probe: ImageProbe) -> JPEGScale? {
    let asked = demand.current
    if let planned, planned.generation == asked.generation { return planned.scale }
    // Nobody asks for a moment when a variant is answered and the next not taken yet.
    let plan =
      asked.variants.isEmpty
      ? nil
      : try? DecodePlan.make(
        probe: probe, bodyLength: 0, variants: Array(asked.variants), memoryBudget: memoryBudget,
        mayReadCoefficients: mayReadCoefficients)
    planned = (asked.generation, plan?.coefficientScale)
    return plan?.coefficientScale
  }
}
