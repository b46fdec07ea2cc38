import Testing

@testable import ImageCodec
@testable import ThumbnailCore

/// Which ranges of a file are requested.
@Suite struct RangePlanTests {
  @Test func nearRangesAreRequestedAsOne() {
    let near = RangePlan.mostBetween - 1
    #expect(RangePlan.merged([0..<10, 10 + near..<50 + near], atMost: 3) == [0..<50 + near])
    #expect(RangePlan.merged([0..<10, 100_000..<100_010], atMost: 3) == [0..<10, 100_000..<100_010])
    #expect(RangePlan.merged([], atMost: 3).isEmpty)
  }

  @Test func thereAreNoMoreThanAllowed() {
    let ranges = [0..<10, 100_000..<100_010, 300_000..<300_010, 350_000..<350_010, 900_000..<900_010]
    #expect(RangePlan.merged(ranges, atMost: 3) == [0..<100_010, 300_000..<350_010, 900_000..<900_010])
    #expect(RangePlan.merged(ranges, atMost: 1) == [0..<900_010])
    #expect(RangePlan.merged(ranges, atMost: 9) == ranges)
  }

  @Test func manyRangesAreMergedSoon() {
    let ranges = (0..<50_000).map { 100_000 * $0..<100_000 * $0 + 1 }
    #expect(RangePlan.merged(ranges, atMost: 2).count == 2)
  }

  @Test func whatCannotBeParsedNeedsAll() {
    let demand = VariantDemand([Variant(size: PixelSize(64, 64))])
    var plan = RangePlan(BodyNeed(demand: demand, memoryBudget: 64 << 20), limits: DecodeLimits())
    let body = ByteSource.memory([UInt8](repeating: 7, count: 200_000))
    #expect(plan.next(in: body, known: RangeSet([0..<65_536]), requests: 3) == .fetch([65_536..<200_000]))
    #expect(plan.next(in: body, known: RangeSet([0..<200_000]), requests: 2) == .done(nil))
  }
}
