package import Foundation
package import HTTPSemantics
package import ThumbnailCore

/// Decides whether a stored response may be reused without revalidation (RFC 9111, 4), by its freshness and the user's
/// `CacheMode`.
package struct ReuseRule: Sendable {
  /// The user's choice.
  let mode: CacheMode
  /// When the pipeline was created.
  let start: Date
  /// The wall clock; reading it takes 30 ns.
  let now: @Sendable () -> Date

  /// Makes a rule for a pipeline that starts now.
  package init(_ mode: CacheMode = .standard, now: @escaping @Sendable () -> Date = { Date() }) {
    self.mode = mode
    self.now = now
    start = now()
  }

  /// Whether a response with this freshness may be used without revalidation.
  package func admits(_ freshness: Freshness) -> Bool {
    if freshness.isLasting { return true }
    switch mode {
    case .offline: return true
    case .noStore: return false
    case .standard: return freshness.isFresh(at: now())
    case .refresh: return start <= freshness.confirmed && freshness.confirmed.hasPassed(by: now())
    case .maximumAge(let age):
      let now = now()
      return freshness.confirmed.hasPassed(by: now)
        && max(0, now.timeIntervalSince(freshness.confirmed)) < age / .seconds(1)
    }
  }
}
