import Foundation

/// Until when something that was fetched is taken for what its server still has.
struct Freshness: Sendable, Equatable {
  /// When the server last spoke for it: with the body, or by saying that it has not changed.
  var confirmed: Date
  /// From when on the server is to be asked again; not after `confirmed` where it is to be asked every time.
  var expires: Date

  /// Of what no server is to be asked for, such as a local file.
  static let lasting = Freshness(confirmed: .distantPast, expires: .distantFuture)
  /// Of what nothing is known.
  static let unknown = Freshness(confirmed: .distantPast, expires: .distantPast)

  /// Whether nobody is ever asked.
  var isLasting: Bool { expires == .distantFuture }

  /// Whether it may be used at a moment. Not before it was fetched: then the clock was ahead at that time, or is behind
  /// now, and how old it is cannot be told.
  func isFresh(at now: Date) -> Bool { isLasting || confirmed <= now && now < expires }
}
