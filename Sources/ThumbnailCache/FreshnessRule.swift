package import Foundation
package import HTTPSemantics
package import ThumbnailCore

/// Decides what of the caches may be used without asking.
package struct FreshnessRule: Sendable {
  /// What the user wants.
  let mode: CacheMode
  /// When the pipeline was made.
  let start: Date
  /// The clock on the wall, 30 ns a look.
  let now: @Sendable () -> Date

  /// Takes the present for the pipeline's beginning.
  package init(_ mode: CacheMode = .standard, now: @escaping @Sendable () -> Date = { Date() }) {
    self.mode = mode
    self.now = now
    start = now()
  }

  /// Whether something that was fetched may be used without asking.
  package func admits(_ freshness: Freshness) -> Bool {
    if freshness.isLasting { return true }
    switch mode {
    case .offline: return true
    case .standard: return freshness.isFresh(at: now())
    case .refresh: return start <= freshness.confirmed && freshness.confirmed.hasCome(by: now())
    case .maximumAge(let age):
      let now = now()
      return freshness.confirmed.hasCome(by: now)
        && max(0, now.timeIntervalSince(freshness.confirmed)) < age / .seconds(1)
    }
  }
}
