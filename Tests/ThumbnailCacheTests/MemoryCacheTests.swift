@testable import ThumbnailCache
@testable import ThumbnailCore
@testable import TestSupport

/// Scenarios 46 to 49, 51 and 52. Scenario 50 (time to live) has no test: nothing expires in memory, because a thumbnail
/// follows from its key alone; whether a source has changed is decided where it is fetched.
@Suite(.timeLimit(.minutes(5))) struct MemoryCacheTests {
  private let overhead = SegmentedLRU.entryOverhead

  @Test func costStaysWithinItsLimitAfterEveryInsertion() {
    let cache = MemoryCache(byteLimit: 50_000)
    var sizes = SystemRandomNumberGenerator()
    for number in 0..<2000 {
      cache.insert(Sample.thumbnail(number, bytes: .random(in: 0...9000, using: &sizes)), for: Sample.key(number % 300))
      if number.isMultiple(of: 3) { _ = cache.thumbnail(for: Sample.key(number % 7)) }
      #expect(cache.totalBytes <= 50_000)
      #expect(cache.thumbnail(for: Sample.key(number % 300)) != nil, "a newcomer that fits stays")
    }
  }

  @Test func theCostIsTheLengthAndAFixedOverhead() {
    let cache = MemoryCache(byteLimit: 1 << 20)
    cache.insert(Sample.thumbnail(1, bytes: 1000), for: Sample.key(1))
    cache.insert(Sample.thumbnail(2, bytes: 500), for: Sample.key(2))
    #expect(cache.totalBytes == 1500 + 2 * overhead)
    cache.removeAll(of: Sample.key(1).source)
    #expect(cache.totalBytes == 500 + overhead)
    cache.removeAll()
    #expect(cache.totalBytes == 0)
  }

  @Test func anOverwriteUpdatesValueAndCost() {
    let cache = MemoryCache(byteLimit: 1 << 20)
    cache.insert(Sample.thumbnail(1, bytes: 1000), for: Sample.key(1))
    let newer = Sample.thumbnail(2, bytes: 3000)
    cache.insert(newer, for: Sample.key(1))
    #expect(cache.thumbnail(for: Sample.key(1)) == newer)
    #expect(cache.totalBytes == 3000 + overhead)
  }

  @Test func anOversizedThumbnailIsRejectedAndTheOneItReplacesLeaves() {
    let cache = MemoryCache(byteLimit: 5000)
    cache.insert(Sample.thumbnail(1, bytes: 1000), for: Sample.key(1))
    cache.insert(Sample.thumbnail(2, bytes: 1000), for: Sample.key(2))
    cache.insert(Sample.thumbnail(3, bytes: 5001 - overhead), for: Sample.key(1))
    #expect(cache.thumbnail(for: Sample.key(1)) == nil)
    #expect(cache.thumbnail(for: Sample.key(2)) != nil)
    cache.insert(Sample.thumbnail(3, bytes: 5000 - overhead), for: Sample.key(1))
    #expect(cache.totalBytes == 5000)
  }

  @Test func touchedThumbnailsSurviveAScan() {
    let cache = MemoryCache(byteLimit: 100 * (1000 + overhead))
    for number in 0..<50 { cache.insert(Sample.thumbnail(number, bytes: 1000), for: Sample.key(number)) }
    for number in 0..<50 { _ = cache.thumbnail(for: Sample.key(number)) }
    for number in 1000..<3000 { cache.insert(Sample.thumbnail(number, bytes: 1000), for: Sample.key(number)) }
    let survivors = (0..<50).filter { cache.thumbnail(for: Sample.key($0)) != nil }
    #expect(survivors.count == 50)
  }

  @Test func whatIsNoLongerUsedMakesRoomForWhatIs() {
    let cache = MemoryCache(byteLimit: 20 * (1000 + overhead))
    for generation in 0..<3 {
      for number in 0..<20 {
        let key = Sample.key(100 * generation + number)
        cache.insert(Sample.thumbnail(number, bytes: 1000), for: key)
        _ = cache.thumbnail(for: key)
      }
    }
    #expect((0..<20).allSatisfy { cache.thumbnail(for: Sample.key($0)) == nil })
    #expect(cache.thumbnail(for: Sample.key(219)) != nil)
  }

  @Test func removingASourceTakesAllItsVariantsAndNoOthers() {
    let cache = MemoryCache(byteLimit: 1 << 20)
    for side in [100, 200, 400] { cache.insert(Sample.thumbnail(side, bytes: 100), for: Sample.key(1, side: side)) }
    cache.insert(Sample.thumbnail(2, bytes: 100), for: Sample.key(2))
    cache.removeAll(of: Sample.source(1).key, except: [Sample.variant(100), Sample.variant(400)])
    #expect(Set(cache.variants(of: Sample.source(1).key).map(\.size.width)) == [100, 400])
    cache.removeAll(of: Sample.source(1).key)
    #expect(cache.variants(of: Sample.source(1).key).isEmpty)
    #expect(cache.thumbnail(for: Sample.key(2)) != nil)
  }

  @Test func manyThreadsMayUseItAtOnce() async {
    let cache = MemoryCache(byteLimit: 200_000)
    await withTaskGroup(of: Void.self) { group in
      for worker in 0..<8 {
        group.addTask {
          for step in 0..<2000 {
            let number = (step &* 31 &+ worker) % 500
            cache.insert(Sample.thumbnail(number, bytes: 1000), for: Sample.key(number))
            if let found = cache.thumbnail(for: Sample.key(number / 2)) { #expect(found.data.count == 1000) }
          }
        }
      }
    }
    #expect(cache.totalBytes <= 200_000)
  }
}
