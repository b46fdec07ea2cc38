/// The shares of holders in a limited resource, such as connections or bytes.
///
/// A pure value; its owner synchronises it.
package struct Shares: Sendable {
  /// The party whose part is used up.
  package enum Refusal: Error, Sendable {
    case holder, all
  }

  private let capacity: Int
  private let most: Int
  /// The amount that all hold together.
  package private(set) var used = 0
  private var held: [String: Int] = [:]

  /// - Parameter most: The part of one holder. A holder that has nothing may take more at once, or nobody could take
  ///   more than a part.
  package init(capacity: Int, most: Int) { (self.capacity, self.most) = (capacity, max(1, most)) }

  /// The amount of a holder.
  package func amount(of holder: String) -> Int { held[holder] ?? 0 }

  /// The reason why a holder cannot take this amount; nil if it can.
  package func refusal(
    of amount: Int, ofAll shared: Int? = nil, beyond own: Int = 0, for holder: String?
  ) -> Refusal? {
    if let holder, let has = held[holder], has > own, has + amount > most { return .holder }
    return used > own && used + (shared ?? amount) > capacity ? .all : nil
  }

  /// Takes an amount.
  ///
  /// - Parameters:
  ///   - shared: The part of it that no other holder has taken already. Default: all of it.
  ///   - own: The amount of a growing thing so far, which does not count against its holder.
  ///   - holder: Nil for a holder without a limit.
  package mutating func take(
    _ amount: Int = 1, ofAll shared: Int? = nil, beyond own: Int = 0, for holder: String?
  ) -> Refusal? {
    if let refusal = refusal(of: amount, ofAll: shared, beyond: own, for: holder) { return refusal }
    used += shared ?? amount
    if let holder, amount > 0 { held[holder, default: 0] += amount }
    return nil
  }

  /// Gives an amount back.
  ///
  /// - Parameter shared: The part of it that no holder has any more.
  package mutating func giveBack(_ amount: Int = 1, ofAll shared: Int? = nil, of holder: String?) {
    used -= shared ?? amount
    guard let holder, let has = held[holder] else { return }
    held[holder] = has > amount ? has - amount : nil
  }
}
