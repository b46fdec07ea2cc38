@testable import ThumbnailCache
@testable import ThumbnailCore
@testable import TestSupport

/// What readers see of changes that are not written yet: the order of scenario 54.
@Suite struct PendingWritesTests {
  private func found(_ area: PendingWrites, _ number: Int) -> Thumbnail? {
    area.thumbnail(Sample.variant(), of: Sample.source(number).key)
  }

  private func isRemoved(_ area: PendingWrites, _ number: Int) -> Bool {
    found(area, number) == nil && area.isHidden(Sample.source(number).key)
  }

  private func isUnknown(_ area: PendingWrites, _ number: Int) -> Bool {
    found(area, number) == nil && !area.isHidden(Sample.source(number).key)
  }

  private func take(_ area: inout PendingWrites, _ bytes: Int = 1 << 20) throws -> PendingWrites.Batch {
    let batch = area.takeBatch(byteLimit: bytes)
    return try #require(batch)
  }

  private func store(_ number: Int, seed: Int? = nil) -> PendingWrites.Operation {
    .store(Sample.record(number), [Sample.entry(seed ?? number, bytes: 1000)])
  }

  @Test func theLastOfSeveralChangesCounts() {
    var area = PendingWrites()
    area.stage(store(1))
    area.stage(store(1, seed: 2))
    #expect(found(area, 1) == Sample.thumbnail(2, bytes: 1000))
    area.stage(.remove(Sample.source(1).key))
    #expect(isRemoved(area, 1))
    #expect(isUnknown(area, 2))
    area.stage(store(1, seed: 3))
    #expect(found(area, 1) == Sample.thumbnail(3, bytes: 1000))
    area.stage(.removeAll)
    #expect(isRemoved(area, 1) && isRemoved(area, 2))
    area.stage(store(2))
    #expect(found(area, 2) != nil)
  }

  @Test func aBatchStaysVisibleUntilItIsSettled() throws {
    var area = PendingWrites()
    area.stage(store(1))
    let first = try take(&area, 1 << 20)
    #expect(found(area, 1) != nil)
    area.stage(store(1, seed: 2))
    area.settle(first)
    #expect(found(area, 1) == Sample.thumbnail(2, bytes: 1000), "what came later stays")
    let second = try take(&area, 1 << 20)
    area.settle(second)
    #expect(isUnknown(area, 1))
    #expect(area.bytes == 0 && area.isEmpty)
  }

  @Test func aRemovalHidesTheDatabaseUntilItIsSettled() throws {
    var area = PendingWrites()
    area.stage(.remove(Sample.source(1).key))
    let first = try take(&area, 1 << 20)
    area.stage(.remove(Sample.source(1).key))
    area.settle(first)
    #expect(isRemoved(area, 1), "a later removal still hides it")
    area.settle(try take(&area, 1 << 20))
    #expect(isUnknown(area, 1))
  }

  @Test func batchesAreBoundedAndClearingStandsAlone() throws {
    var area = PendingWrites()
    for number in 0..<5 { area.stage(store(number)) }
    area.stage(.removeAll)
    area.stage(store(9))
    var sizes: [Int] = []
    while let batch = area.takeBatch(byteLimit: 2500) {
      sizes.append(batch.operations.count)
      area.settle(batch)
    }
    #expect(sizes == [2, 2, 1, 1, 1])
    #expect(isUnknown(area, 9) && isUnknown(area, 1))
  }

  @Test func aThumbnailLargerThanABatchIsABatch() throws {
    var area = PendingWrites()
    area.stage(store(1))
    #expect(try take(&area, 10).operations.count == 1)
  }

  @Test func readsAreNotedBeforeALimitIsApplied() throws {
    var area = PendingWrites()
    area.noteUse(ofRow: 1, limit: 5)
    area.stage(.work { try $0.trim(toBytes: 1) })
    let first = try take(&area)
    let second = try take(&area)
    #expect(first.touched == [1] && first.operations.isEmpty)
    #expect(second.operations.count == 1)
  }

  @Test func readsAreNotedOnceInTheOrderOfTheLast() throws {
    var area = PendingWrites()
    for row in [1, 2, 1, 3, 2] as [Int64] { area.noteUse(ofRow: row, limit: 5) }
    area.noteUse(ofRow: 4, limit: 5)
    #expect(try take(&area, 1).touched == [1, 3, 2])
    let none = area.takeBatch(byteLimit: 1)
    #expect(none?.lastTicket == nil)
  }
}
