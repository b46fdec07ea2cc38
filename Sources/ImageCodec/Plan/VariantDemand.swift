import Synchronization
package import ThumbnailCore

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
