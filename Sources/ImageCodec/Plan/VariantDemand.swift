import Synchronization
package import ThumbnailCore

/// The variants that are asked of one picture at the moment.
///
/// Whoever takes the requests changes it, from any thread. The observer of the picture's transfer looks at it with every
/// piece that arrives: a lock that is hardly ever taken, and a number to compare.
package final class VariantDemand: Sendable {
  /// What was asked at one moment.
  struct Snapshot: Sendable {
    fileprivate(set) var variants: Set<Variant>
    /// Another with every change.
    fileprivate(set) var generation = 0
  }

  private let state: Mutex<Snapshot>

  package init(_ variants: Set<Variant> = []) { state = Mutex(Snapshot(variants: variants)) }

  /// What is asked now.
  var current: Snapshot { state.withLock { $0 } }

  package func insert(_ variant: Variant) {
    state.withLock { if $0.variants.insert(variant).inserted { $0.generation += 1 } }
  }

  package func remove(_ variant: Variant) {
    state.withLock { if $0.variants.remove(variant) != nil { $0.generation += 1 } }
  }
}
