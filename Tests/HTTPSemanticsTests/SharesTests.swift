import Testing

@testable import HTTPSemantics

/// Who may have how much of what there is.
@Suite struct SharesTests {
  @Test func aHolderHasNoMoreThanItsPartAndAllNoMoreThanThereIs() {
    var shares = Shares(capacity: 8, most: 3)
    for _ in 0..<3 { #expect(shares.take(for: "a") == nil) }
    #expect(shares.take(for: "a") == .holder)
    for _ in 0..<3 { #expect(shares.take(for: "b") == nil) }
    #expect(shares.take(2, for: "c") == nil)
    #expect(shares.take(for: "d") == .all && shares.used == 8)
    // Who has used up its own part is told so, whatever the others have.
    #expect(shares.take(for: "a") == .holder)
    shares.giveBack(of: "a")
    #expect(shares.amount(of: "a") == 2 && shares.take(for: "d") == nil)
    #expect(shares.amount(of: "e") == 0)
  }

  @Test func whatIsLargerThanAPartIsHadByWhoHasNothing() {
    var shares = Shares(capacity: 100, most: 25)
    #expect(shares.take(60, for: "a") == nil)
    #expect(shares.take(1, for: "a") == .holder)
    #expect(shares.take(60, for: "b") == .all)
    shares.giveBack(60, of: "a")
    // Larger than all there is: alone.
    #expect(shares.take(300, for: "b") == nil)
    #expect(shares.take(1, for: "a") == .all)
  }

  @Test func whatGrowsIsNotKeptFromMoreByItself() {
    var shares = Shares(capacity: 100, most: 25)
    #expect(shares.take(20, for: "a") == nil)
    #expect(shares.take(20, for: "a") == .holder)
    #expect(shares.take(20, beyond: 20, for: "a") == nil)
    #expect(shares.take(70, beyond: 40, for: "a") == nil)
    // Not beside anything else, of its holder or of another.
    #expect(shares.take(1, for: "b") == .all)
    shares.giveBack(70, of: "a")
    #expect(shares.take(1, for: "b") == nil)
    #expect(shares.take(60, beyond: 40, for: "a") == .all)
    #expect(shares.take(1, beyond: 39, for: "a") == .holder)
  }

  @Test func whatIsSharedCountsOnceForAllAndOnceForEachHolder() {
    var shares = Shares(capacity: 100, most: 25)
    #expect(shares.take(20, for: "a") == nil)
    #expect(shares.take(20, ofAll: 0, for: "b") == nil)
    #expect(shares.used == 20 && shares.amount(of: "b") == 20)
    #expect(shares.take(20, ofAll: 0, for: "b") == .holder)
    shares.giveBack(20, ofAll: 0, of: "a")
    #expect(shares.used == 20 && shares.amount(of: "a") == 0)
    shares.giveBack(20, of: "b")
    #expect(shares.used == 0)
  }

  @Test func nobodyInParticularIsLimitedByTheWholeAlone() {
    var shares = Shares(capacity: 8, most: 1)
    for _ in 0..<8 { #expect(shares.take(for: nil) == nil) }
    #expect(shares.take(for: nil) == .all)
    shares.giveBack(of: nil)
    #expect(shares.used == 7)
  }
}
