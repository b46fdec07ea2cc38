@testable import ThumbnailCore
@testable import Thumbnailer

@Suite struct JobTableTests {
  private typealias Table = JobTable<Int>
  private let small = Variant(size: PixelSize(100, 100), fit: .cover)
  private let large = Variant(size: PixelSize(400, 400), fit: .cover)

  private func request(_ name: String, _ variant: Variant, _ priority: Priority = .prefetch) -> ThumbnailRequest {
    let source = ImageSource(URL(fileURLWithPath: "/\(name)"))
    return ThumbnailRequest(source, variant: variant, priority: priority)
  }

  private func started(_ joined: (waiter: Table.WaiterID, isNew: Bool)) -> Table.JobID? {
    joined.isNew ? joined.waiter.job : nil
  }

  @Test func theSecondRequestForASourceJoinsTheJob() throws {
    var table = Table()
    let id = try #require(started(table.join(request("a", small), sink: 1)))
    let second = table.join(request("a", large, .visible), sink: 2)
    #expect(second.waiter.job == id && !second.isNew)
    #expect(table.priority(of: id) == .visible)
    #expect(table.jobCount == 1)
  }

  @Test func differentSourcesNeverMerge() {
    var table = Table()
    #expect(started(table.join(request("a", small), sink: 1)) != nil)
    #expect(started(table.join(request("b", small), sink: 2)) != nil)
    #expect(table.jobCount == 2)
  }

  @Test func eachVariantIsTakenOnceAndTheLargestFirst() throws {
    var table = Table()
    let a = request("a", small)
    let id = try #require(started(table.join(a, sink: 1)))
    _ = table.join(request("a", small), sink: 2)
    _ = table.join(request("a", large), sink: 3)
    #expect(table.takeVariants(for: id) == [large, small])
    #expect(table.takeVariants(for: id).isEmpty)
    #expect(table.finish(small, for: id) == [1, 2])
    #expect(table.finish(small, for: id).isEmpty)
    #expect(table.end(id).map(\.sink) == [3])
  }

  @Test func aJobEndsWithItsLastAnswer() throws {
    var table = Table()
    let a = request("a", small)
    let subject = Table.Subject(a.source)
    let id = try #require(started(table.join(a, sink: 1)))
    // Somebody joins who waits for another thumbnail: the job goes on.
    _ = table.join(request("a", large), sink: 2)
    #expect(table.finish(small, for: id) == [1])
    #expect(table.job(of: subject) == id)
    #expect(table.finish(large, for: id) == [2])
    #expect(table.jobCount == 0)
    // Whoever asks from then on begins anew.
    #expect(started(table.join(a, sink: 3)) != id)
  }

  @Test func theLastWaiterToLeaveStopsTheJob() throws {
    var table = Table()
    let a = request("a", small)
    let (first, second) = (table.join(a, sink: 1).waiter, table.join(a, sink: 2).waiter)
    #expect(table.leave(first).sink == 1 && table.isRunning(first.job))
    #expect(table.leave(first).sink == nil && table.isRunning(first.job))
    #expect(table.leave(second).sink == 2 && !table.isRunning(first.job))
    #expect(table.jobCount == 0)
  }

  @Test func aStoppedJobSeesNothingOfItsSuccessor() throws {
    var table = Table()
    let a = request("a", small)
    let waiter = table.join(a, sink: 1).waiter
    let old = waiter.job
    _ = table.leave(waiter)
    let new = try #require(started(table.join(a, sink: 2)))
    #expect(table.takeVariants(for: old).isEmpty)
    #expect(table.end(old).isEmpty)
    #expect(table.finish(small, for: old).isEmpty)
    #expect(table.takeVariants(for: new) == [small])
  }

  @Test func thePriorityIsThatOfTheMostUrgentWaiter() throws {
    var table = Table()
    let id = try #require(started(table.join(request("a", small), sink: 1)))
    let urgent = table.join(request("a", small, .visible), sink: 2).waiter
    #expect(table.priority(of: id) == .visible)
    _ = table.leave(urgent)
    #expect(table.priority(of: id) == .prefetch)
  }

  @Test func variantsNobodyWaitsForAreGivenUp() throws {
    var table = Table()
    let a = request("a", small)
    let id = try #require(started(table.join(a, sink: 1)))
    let leaving = table.join(request("a", large), sink: 2).waiter
    let taken = table.takeVariants(for: id)
    _ = table.leave(leaving)
    #expect(table.stillWanted(taken, for: id) == [small])
    _ = table.join(request("a", large), sink: 3)
    #expect(table.takeVariants(for: id) == [large])
  }

  @Test func aWaiterMayChangeItsPriority() throws {
    var table = Table()
    let waiter = table.join(request("a", small), sink: 1).waiter
    let id = waiter.job
    let subject = Table.Subject(request("a", small).source)
    #expect(table.job(of: subject) == id)
    #expect(table.setPriority(of: waiter, to: .visible) == id)
    #expect(table.priority(of: id) == .visible)
    _ = table.join(request("a", large, .visible), sink: 2)
    #expect(table.setPriority(of: waiter, to: .prefetch) == id)
    #expect(table.priority(of: id) == .visible)
    _ = table.finish(small, for: id)
    #expect(table.setPriority(of: waiter, to: .visible) == nil)
    _ = table.end(id)
    #expect(table.job(of: subject) == nil)
  }

  @Test func whoAsksAfterARemovalBeginsAnewWhileTheOthersAreAnswered() throws {
    var table = Table()
    let a = request("a", small)
    let subject = Table.Subject(a.source)
    let leaving = table.join(a, sink: 1).waiter
    let old = leaving.job
    _ = table.join(request("a", large), sink: 2)
    let other = table.join(request("b", small), sink: 9).waiter
    #expect(table.detach(a.source.key) == [old])
    #expect(table.detach(a.source.key).isEmpty && table.job(of: subject) == nil)
    let new = try #require(started(table.join(a, sink: 3)))
    #expect(new != old && table.jobCount == 3)
    // The old job works on, without those of the new one.
    #expect(table.takeVariants(for: old) == [large, small])
    #expect(table.setPriority(of: leaving, to: .visible) == old)
    #expect(table.priority(of: old) == .visible && table.priority(of: new) == .prefetch)
    #expect(table.leave(leaving).sink == 1 && table.priority(of: old) == .prefetch)
    #expect(table.stillWanted([large, small], for: old) == [large])
    #expect(table.finish(large, for: old) == [2])
    #expect(!table.isRunning(old) && table.isRunning(new))
    #expect(table.finish(small, for: old).isEmpty)
    #expect(table.end(new).map(\.sink) == [3])
    #expect(table.jobCount == 1)
    #expect(table.leave(other).sink == 9)
  }

  @Test func everyJobLeavesTheTableWhenAllIsRemoved() throws {
    var table = Table()
    let waiter = table.join(request("a", small), sink: 1).waiter
    _ = table.join(request("b", small), sink: 2)
    #expect(table.detachAll().count == 2)
    #expect(started(table.join(request("a", small), sink: 3)) != nil)
    #expect(table.leave(waiter).sink == 1 && !table.isRunning(waiter.job))
    #expect(table.jobCount == 2)
  }
}
