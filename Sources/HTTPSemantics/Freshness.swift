package import FoundationEssentials

/// Until when a stored response is fresh.
package struct Freshness: Sendable, Equatable {
  /// When the server last confirmed it: with a body, or with a 304 (not modified).
  package var confirmed: Date
  /// The time when it becomes stale; not after `confirmed` if every use needs revalidation.
  package var expires: Date

  package init(confirmed: Date, expires: Date) {
    self.confirmed = confirmed
    self.expires = expires
  }

  /// Never stale, such as a local file.
  package static let lasting = Freshness(confirmed: .distantPast, expires: .distantFuture)
  /// Always stale: nothing is known.
  package static let unknown = Freshness(confirmed: .distantPast, expires: .distantPast)

  /// Whether it is never revalidated.
  package var isLasting: Bool { expires == .distantFuture }

  /// Whether it is fresh at a moment. If `confirmed` lies in the future the clock was set wrong, then or now, so the
  /// age is unknown and it counts as stale.
  package func isFresh(at now: Date) -> Bool {
    isLasting || confirmed.hasPassed(by: now) && now < expires && confirmed < expires
  }
}

extension Date {
  /// Whether it is not in the future. One second is tolerated, because clocks are adjusted all the time.
  package func hasPassed(by now: Date) -> Bool { timeIntervalSince(now) <= 1 }
}
