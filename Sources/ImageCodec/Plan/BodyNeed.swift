package import JPEGCoefficients
import Synchronization
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
  private let previews: PreviewUse
  private let isAtHand: Bool
  private var known: (generation: Int, extent: Extent)?

  /// `memoryBudget` is the most bytes that a decode may take, as for the final plan. The rest of a body that `isAtHand`
  /// costs little: a JPEG is read to its end, so that a truncated one is refused.
  package init(
    demand: VariantDemand, memoryBudget: Int, previews: PreviewUse = .off, isAtHand: Bool = false
  ) {
    self.demand = demand
    self.memoryBudget = memoryBudget
    self.previews = previews
    self.isAtHand = isAtHand
  }

  /// Whether a part of the body may suffice for an image of this kind, apart from the scans of a JPEG.
  func mayBeRanges(_ probe: ImageProbe) -> Bool {
    probe.isRAW || probe.heif != nil || previews == .auto && probe.preview != nil
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
      probe: probe, bodyLength: 0, variants: variants, memoryBudget: memoryBudget)
    if let ranges = plan?.neededRanges { return .ranges(ranges) }
    // The coefficients of a sequential file are spread over all of it: the watcher never reports them.
    return isAtHand ? .any : plan?.coefficientScale.map { .scans($0) } ?? .any
  }
}

/// Decides when an arriving body is sufficient for all variants currently requested.
///
/// This applies to a progressive JPEG if its first scans suffice for all of them, to RAW files and others whose preview
/// or items are read, and, if previews are allowed, to an image whose preview is large enough.
package struct EarlyStop: Sendable {
  private var need: BodyNeed
  private var scans = ScanWatcher()
  private var position = 0

  package init(_ need: BodyNeed) { self.need = need }

  /// The finest scale that the bytes so far are sufficient for; nil if any use needs the whole body.
  package var finestScale: JPEGScale? { scans.finestScale }

  /// Consumes the next bytes of the body, with `probe` once the header is known. True when no more are needed.
  package mutating func take(_ bytes: UnsafeRawBufferPointer, probe: ImageProbe?) -> Bool {
    scans.feed(bytes)
    position += bytes.count
    guard let probe, scans.finestScale != nil || need.mayBeRanges(probe) else { return false }
    return switch need.extent(probe) {
    case .any: false
    case .scans(let scale): scans.sufficientLength(for: scale) != nil
    case .ranges(let ranges): position >= ranges.upperBound
    }
  }

  /// The bytes of a body of this length that need not be received if the missing parts are requested by ranges instead
  /// of read from the stream.
  package mutating func sparedByRanges(_ probe: ImageProbe, length: Int) -> Int {
    guard need.mayBeRanges(probe), case .ranges(let ranges) = need.extent(probe) else { return 0 }
    let end = min(ranges.upperBound, length)
    guard end > position else { return 0 }
    return end - position - ranges.intersection(RangeSet([position..<end])).byteCount
  }
}

/// The variants currently requested of one source image.
///
/// The job table updates it from any thread. The observer of the image's transfer reads it for every chunk: one
/// uncontended lock and a comparison of numbers.
package final class VariantDemand: Sendable {
  /// The demand at one moment.
  struct Snapshot: Sendable {
    fileprivate(set) var variants: Set<Variant>
    /// Changes with every update.
    fileprivate(set) var generation = 0
  }

  private let state: Mutex<Snapshot>

  package init(_ variants: Set<Variant> = []) { state = Mutex(Snapshot(variants: variants)) }

  /// The current demand.
  var current: Snapshot { state.withLock { $0 } }

  package func insert(_ variant: Variant) {
    state.withLock { if $0.variants.insert(variant).inserted { $0.generation += 1 } }
  }

  package func remove(_ variant: Variant) {
    state.withLock { if $0.variants.remove(variant) != nil { $0.generation += 1 } }
  }
}
