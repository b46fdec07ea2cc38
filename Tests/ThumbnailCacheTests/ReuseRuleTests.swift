@testable import HTTPSemantics
@testable import TestSupport
@testable import ThumbnailCache
@testable import ThumbnailCore

/// What may be used without asking, in each mode.
@Suite struct ReuseRuleTests {
  private let clock = WallClock()

  private func fetched(_ age: Double, freshFor lifetime: Double) -> Freshness {
    let fetched = clock.now.addingTimeInterval(-age)
    return Freshness(confirmed: fetched, expires: fetched.addingTimeInterval(lifetime))
  }

  private func admits(_ mode: CacheMode, _ freshness: Freshness) -> Bool {
    ReuseRule(mode, now: { [clock] in clock.now }).admits(freshness)
  }

  @Test func theServersWordCounts() {
    #expect(admits(.standard, fetched(10, freshFor: 11)))
    #expect(!admits(.standard, fetched(10, freshFor: 10)))
    #expect(!admits(.standard, fetched(0, freshFor: 0)))
    #expect(!admits(.standard, fetched(-5, freshFor: 1000)))
  }

  @Test func anAgeCountsInstead() {
    #expect(admits(.maximumAge(.seconds(20)), fetched(10, freshFor: 0)))
    #expect(!admits(.maximumAge(.seconds(10)), fetched(10, freshFor: 1000)))
    #expect(!admits(.maximumAge(.zero), fetched(0, freshFor: 1000)))
    #expect(!admits(.maximumAge(.seconds(20)), fetched(-5, freshFor: 1000)))
  }

  @Test func aRefreshAsksAboutWhatCameBeforeIt() {
    let rule = ReuseRule(.refresh, now: { [clock] in clock.now })
    #expect(!rule.admits(fetched(1, freshFor: 1000)))
    clock.advance(by: 5)
    #expect(rule.admits(fetched(1, freshFor: 0)))
    #expect(!rule.admits(fetched(-2, freshFor: 1000)))
  }

  @Test func offlineEverythingIsGood() {
    #expect(admits(.offline, fetched(10, freshFor: 0)) && admits(.offline, .unknown))
  }

  @Test(arguments: [CacheMode.standard, .refresh, .maximumAge(.zero), .offline])
  func nobodyIsAskedAboutALocalFile(mode: CacheMode) {
    #expect(admits(mode, .lasting))
  }

  @Test func theMemoryCacheHandsOutNothingThatIsOutOfDate() {
    let (memory, rule) = (MemoryCache(byteLimit: 1 << 20), ReuseRule(now: { [clock] in clock.now }))
    func thumbnail(_ number: Int) -> Thumbnail? { memory.thumbnail(for: Sample.key(number), admittedBy: rule) }
    memory.insert(Sample.thumbnail(1), for: Sample.key(1), freshness: fetched(0, freshFor: 60))
    memory.insert(Sample.thumbnail(2), for: Sample.key(2))
    #expect(thumbnail(1) != nil)
    clock.advance(by: 61)
    #expect(thumbnail(1) == nil && thumbnail(2) != nil)
    #expect(memory.entry(for: Sample.key(1))?.thumbnail == Sample.thumbnail(1))
    memory.renew(Sample.source(1).key, freshness: fetched(0, freshFor: 60))
    #expect(thumbnail(1) != nil)
    clock.advance(by: -3600)
    #expect(thumbnail(1) == nil)
  }
}
