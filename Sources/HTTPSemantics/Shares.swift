/// What holders have of something that there is a limited amount of, such as connections or bytes.
///
/// A pure value; its owner synchronises it.
package struct Shares: Sendable {
  /// Whose part is used up.
  package enum Refusal: Error, Sendable {
    case holder, all
  }

  private let capacity: Int
  private let most: Int
  /// What is held by all together.
  package private(set) var used = 0
  private var held: [String: Int] = [:]

  /// - Parameter most: What one holder may have. One that has nothing may take more at once, or what is larger than the
  ///   part of a holder could never be had.
  package init(capacity: Int, most: Int) { (self.capacity, self.most) = (capacity, max(1, most)) }

  /// What a holder has.
  package func amount(of holder: String) -> Int { held[holder] ?? 0 }

  /// What would keep a holder from taking that much; nil if nothing would.
  package func refusal(
    of amount: Int, ofAll shared: Int? = nil, beyond own: Int = 0, for holder: String?
  ) -> Refusal? {
    if let holder, let has = held[holder], has > own, has + amount > most { return .holder }
    return used > own && used + (shared ?? amount) > capacity ? .all : nil
  }

  /// Takes an amount.
  ///
  /// - Parameters:
  ///   - shared: What of it nobody else has taken already. Default: all of it.
  ///   - own: What the same thing has already, which grows: it keeps nobody from more.
  ///   - holder: Nil for one whose part is not limited.
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
  /// - Parameter shared: What of it nobody has any more.
  package mutating func giveBack(_ amount: Int = 1, ofAll shared: Int? = nil, of holder: String?) {
    used -= shared ?? amount
    guard let holder, let has = held[holder] else { return }
    held[holder] = has > amount ? has - amount : nil
  }
}
