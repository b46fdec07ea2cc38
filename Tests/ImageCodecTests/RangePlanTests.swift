@testable import CodecTestSupport
@testable import ImageCodec

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

  private func plan(_ limits: DecodeLimits = DecodeLimits()) -> RangePlan {
    let demand = VariantDemand([Variant(size: PixelSize(64, 64))])
    return RangePlan(BodyNeed(demand: demand, memoryBudget: 64 << 20), limits: limits)
  }

  @Test func whatKeepsMetadataNeedsAll() throws {
    let file = try TestPicture.texture(173, 91).encoded("heifsave_buffer", "compression=av1,effort=0")
    var variant = Variant(size: PixelSize(64, 64))
    #expect(try DecodePlan.make(file, [variant]).neededRanges != nil)
    variant.metadata = .profile
    #expect(try DecodePlan.make(file, [variant]).neededRanges == nil)
  }

  @Test func whatCannotBeParsedNeedsAll() throws {
    var plan = plan()
    let body = ByteSource.memory([UInt8](repeating: 7, count: 200_000))
    #expect(try plan.next(in: body, known: RangeSet([0..<65_536]), requests: 3) == .whole)
  }

  @Test func anImageBeyondTheLimitsIsRefusedAndNoImageOfNoSizeIsPlanned() throws {
    for (width, isRefused) in [(60_000, true), (0, false)] {
      var tiff = [UInt8](repeating: 0, count: 400_000)
      let directory = 200_000
      tiff.replaceSubrange(0..<8, with: Array("II*\0".utf8) + Self.littleEndian(directory, 4))
      let fields = [(256, width), (257, width), (258, 8), (277, 1)]
      let entries = fields.flatMap { (tag: Int, value: Int) -> [UInt8] in
        Self.littleEndian(tag, 2) + [4, 0, 1, 0, 0, 0] + Self.littleEndian(value, 4)
      }
      tiff.replaceSubrange(directory..<directory + 2 + entries.count, with: [UInt8(fields.count), 0] + entries)
      var plan = plan()
      let known = RangeSet([0..<65_536])
      let next = try plan.next(in: .memory(tiff), known: known, requests: 3)
      #expect(next == .fetch([directory..<directory + RangePlan.leastOfHeader]))
      let all = known.union(RangeSet([directory..<directory + RangePlan.leastOfHeader]))
      if isRefused {
        #expect(throws: CodecError.self) { try plan.next(in: .memory(tiff), known: all, requests: 2) }
      } else {
        #expect((try? plan.next(in: .memory(tiff), known: all, requests: 2)).map { $0 == .whole } ?? true)
      }
    }
  }

  private static func littleEndian(_ number: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }
}
