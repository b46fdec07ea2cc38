@testable import ThumbnailCore

@Suite(.timeLimit(.minutes(5))) struct WeightedSemaphoreTests {
  private let visible = PriorityControl(.visible)

  @Test func sharesComeBackWhenTheyAreReleasedOrDropped() async throws {
    let semaphore = WeightedSemaphore(capacity: 100)
    let first = try await semaphore.reserve(60, priority: visible)
    var second: WeightedSemaphore.Reservation? = try await semaphore.reserve(40, priority: visible)
    #expect(semaphore.used == 100)
    first.release()
    first.release()
    #expect(semaphore.used == 40)
    _ = second
    second = nil
    #expect(semaphore.used == 0)
  }

  @Test func moreThanThereIsInAllIsRefusedAtOnce() async {
    let semaphore = WeightedSemaphore(capacity: 100)
    await #expect(throws: WeightedSemaphore.Failure.exceedsCapacity(asked: 101, capacity: 100)) {
      _ = try await semaphore.reserve(101, priority: visible)
    }
  }

  @Test func aLargeRequestIsNotStarvedBySmallOnes() async throws {
    let semaphore = WeightedSemaphore(capacity: 100)
    let held = try await semaphore.reserve(50, priority: visible)
    let large = Task { try await semaphore.reserve(90, priority: visible) }
    await poll { semaphore.waiting == 1 }
    let small = Task { try await semaphore.reserve(10, priority: visible) }
    await poll { semaphore.waiting == 2 }
    #expect(semaphore.used == 50)
    held.release()
    let (first, second) = (try await large.value, try await small.value)
    #expect(first.permits + second.permits == semaphore.used)
  }

  @Test func whatIsFreeCanBeTakenWithoutWaitingAndReturns() async throws {
    let semaphore = WeightedSemaphore(capacity: 100)
    let held = try await semaphore.reserve(30, priority: visible)
    let rest = semaphore.reserveFree()
    #expect(rest.permits == 70 && semaphore.used == 100 && semaphore.reserveFree().permits == 0)
    let waiting = Task { try await semaphore.reserve(60, priority: visible) }
    await poll { semaphore.waiting == 1 }
    rest.release()
    #expect(try await waiting.value.permits == 60)
    withExtendedLifetime(held) {}
  }

  @Test func aCancelledRequestLeavesTheLine() async throws {
    let semaphore = WeightedSemaphore(capacity: 100)
    let held = try await semaphore.reserve(100, priority: visible)
    let waiting = Task { try await semaphore.reserve(100, priority: visible) }
    await poll { semaphore.waiting == 1 }
    waiting.cancel()
    await #expect(throws: WeightedSemaphore.Failure.cancelled) { _ = try await waiting.value }
    #expect(semaphore.waiting == 0)
    held.release()
    #expect(semaphore.used == 0)
  }

  @Test func aRaisedRequestOvertakes() async throws {
    let semaphore = WeightedSemaphore(capacity: 10)
    let held = try await semaphore.reserve(10, priority: visible)
    let (early, late) = (PriorityControl(.prefetch), PriorityControl(.prefetch))
    let order = Recorder<String>()
    let first = Task {
      let share = try await semaphore.reserve(10, priority: early)
      order.append("early")
      share.release()
    }
    await poll { semaphore.waiting == 1 }
    let second = Task {
      let share = try await semaphore.reserve(10, priority: late)
      order.append("late")
      share.release()
    }
    await poll { semaphore.waiting == 2 }
    late.set(.visible)
    held.release()
    try await first.value
    try await second.value
    #expect(order.values == ["late", "early"])
  }

  @Test func lendsHalfAtMostAndWithoutWaiting() async throws {
    let semaphore = WeightedSemaphore(capacity: 100)
    var lent = semaphore.lend(40)
    #expect(lent != nil && semaphore.lend(11) == nil && semaphore.used == 40)
    let other = try await semaphore.reserve(55, priority: visible)
    #expect(semaphore.lend(6) == nil)
    lent = nil
    #expect(semaphore.used == 55)
    #expect(semaphore.lend(46) == nil)
    other.release()
    #expect(semaphore.lend(50) != nil)
  }

  @Test func whatIsOverdrawnMakesTheOthersWaitUntilItIsReturned() async throws {
    let semaphore = WeightedSemaphore(capacity: 100)
    let large = semaphore.overdraw(90)
    let beyond = semaphore.overdraw(30)
    #expect(semaphore.used == 120 && semaphore.reserveNow(0) == nil)
    let waiter = Task { try await semaphore.reserve(0, priority: PriorityControl(.visible)) }
    await poll { semaphore.waiting == 1 }
    beyond.release()
    #expect(try await waiter.value.permits == 0)
    #expect(semaphore.reserveNow(10) != nil && semaphore.reserveNow(11) == nil)
    large.release()
  }

  @Test func whoWaitsWithLentBytesNeverBlocksTheOthersForGood() async throws {
    let semaphore = WeightedSemaphore(capacity: 100)
    let lent = (0..<2).map { _ in semaphore.lend(20) }
    #expect(lent.allSatisfy { $0 != nil })
    let running = try await semaphore.reserve(10, priority: visible)
    // The first does not fit before both lenders are done, and the second before one is.
    let large = Task { try await semaphore.reserve(90, priority: PriorityControl(.visible)) }
    await poll { semaphore.waiting == 1 }
    let holder = Task { try await semaphore.reserve(70, holdingLent: true, priority: PriorityControl(.visible)) }
    await poll { semaphore.waiting == 2 }
    let small = Task { try await semaphore.reserve(60, holdingLent: true, priority: PriorityControl(.prefetch)) }
    await poll { semaphore.waiting == 3 }
    running.release()
    // Nothing but lent bytes is out: what fits overtakes.
    try await small.value.release()
    // None fits: a holder is refused, and lets go of what was lent.
    await #expect(throws: WeightedSemaphore.Failure.exceedsCapacity(asked: 70, capacity: 60)) { try await holder.value }
    #expect(semaphore.waiting == 1)
    for share in lent { share?.release() }
    #expect(try await large.value.permits == 90)
  }
}
