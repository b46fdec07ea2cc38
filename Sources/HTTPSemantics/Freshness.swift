package import Foundation

/// Until when something that was fetched is taken for what its server still has.
package struct Freshness: Sendable, Equatable {
  /// When the server last spoke for it: with the body, or by saying that it has not changed.
  package var confirmed: Date
  /// From when on the server is to be asked again; not after `confirmed` where it is to be asked every time.
  package var expires: Date

  package init(confirmed: Date, expires: Date) {
    self.confirmed = confirmed
    self.expires = expires
  }

  /// Of what no server is to be asked for, such as a local file.
  package static let lasting = Freshness(confirmed: .distantPast, expires: .distantFuture)
  /// Of what nothing is known.
  package static let unknown = Freshness(confirmed: .distantPast, expires: .distantPast)

  /// Whether nobody is ever asked.
  package var isLasting: Bool { expires == .distantFuture }

  /// Whether it may be used at a moment. Not before it was fetched: then the clock was ahead at that time, or is behind
  /// now, and how old it is cannot be told.
  package func isFresh(at now: Date) -> Bool {
    isLasting || confirmed.hasCome(by: now) && now < expires && confirmed < expires
  }
}

extension Date {
  /// Whether it is not ahead of the clock. A second is allowed for, since clocks are put right all the time.
  package func hasCome(by now: Date) -> Bool { timeIntervalSince(now) <= 1 }
}
