import Testing

@testable import TestSupport
@testable import ThumbnailCore

@Suite(.timeLimit(.minutes(5))) struct ByteSemaphoreTests {
  private let visible = PriorityControl(.visible)

  @Test func sharesComeBackWhenTheyAreReleasedOrDropped() async throws {
    let limiter = ByteSemaphore(capacity: 100)
    let first = try await limiter.reserve(60, priority: visible)
    var second: ByteSemaphore.Reservation? = try await limiter.reserve(40, priority: visible)
    #expect(limiter.used == 100)
    first.release()
    first.release()
    #expect(limiter.used == 40)
    _ = second
    second = nil
    #expect(limiter.used == 0)
  }

  @Test func moreThanThereIsInAllIsRefusedAtOnce() async {
    let limiter = ByteSemaphore(capacity: 100)
    await #expect(throws: ByteSemaphore.Failure.exceedsCapacity(asked: 101, capacity: 100)) {
      _ = try await limiter.reserve(101, priority: visible)
    }
  }

  @Test func aLargeRequestIsNotStarvedBySmallOnes() async throws {
    let limiter = ByteSemaphore(capacity: 100)
    let held = try await limiter.reserve(50, priority: visible)
    let large = Task { try await limiter.reserve(90, priority: visible) }
    await poll { limiter.waiting == 1 }
    let small = Task { try await limiter.reserve(10, priority: visible) }
    await poll { limiter.waiting == 2 }
    #expect(limiter.used == 50)
    held.release()
    let (first, second) = (try await large.value, try await small.value)
    #expect(first.bytes + second.bytes == limiter.used)
  }

  @Test func whatIsFreeCanBeTakenWithoutWaitingAndReturns() async throws {
    let limiter = ByteSemaphore(capacity: 100)
    let held = try await limiter.reserve(30, priority: visible)
    let rest = limiter.reserveFree()
    #expect(rest.bytes == 70 && limiter.used == 100 && limiter.reserveFree().bytes == 0)
    let waiting = Task { try await limiter.reserve(60, priority: visible) }
    await poll { limiter.waiting == 1 }
    rest.release()
    #expect(try await waiting.value.bytes == 60)
    withExtendedLifetime(held) {}
  }

  @Test func aCancelledRequestLeavesTheLine() async throws {
    let limiter = ByteSemaphore(capacity: 100)
    let held = try await limiter.reserve(100, priority: visible)
    let waiting = Task { try await limiter.reserve(100, priority: visible) }
    await poll { limiter.waiting == 1 }
    waiting.cancel()
    await #expect(throws: ByteSemaphore.Failure.cancelled) { _ = try await waiting.value }
    #expect(limiter.waiting == 0)
    held.release()
    #expect(limiter.used == 0)
  }

  @Test func aRaisedRequestOvertakes() async throws {
    let limiter = ByteSemaphore(capacity: 10)
    let held = try await limiter.reserve(10, priority: visible)
    let (early, late) = (PriorityControl(.prefetch), PriorityControl(.prefetch))
    let order = Recorder<String>()
    let first = Task {
      let share = try await limiter.reserve(10, priority: early)
      order.append("early")
      share.release()
    }
    await poll { limiter.waiting == 1 }
    let second = Task {
      let share = try await limiter.reserve(10, priority: late)
      order.append("late")
      share.release()
    }
    await poll { limiter.waiting == 2 }
    late.set(.visible)
    held.release()
    try await first.value
    try await second.value
    #expect(order.values == ["late", "early"])
  }

  @Test func lendsHalfAtMostAndWithoutWaiting() async throws {
    let limiter = ByteSemaphore(capacity: 100)
    var lent = limiter.lend(40)
    #expect(lent != nil && limiter.lend(11) == nil && limiter.used == 40)
    let other = try await limiter.reserve(55, priority: visible)
    #expect(limiter.lend(6) == nil)
    lent = nil
    #expect(limiter.used == 55)
    #expect(limiter.lend(46) == nil)
    other.release()
    #expect(limiter.lend(50) != nil)
  }

  @Test func whoWaitsWithLentBytesNeverBlocksTheOthersForGood() async throws {
    let limiter = ByteSemaphore(capacity: 100)
    let lent = (0..<2).map { _ in limiter.lend(20) }
    #expect(lent.allSatisfy { $0 != nil })
    let running = try await limiter.reserve(10, priority: visible)
    // The first does not fit before both lenders are done, and the second before one is.
    let large = Task { try await limiter.reserve(90, priority: PriorityControl(.visible)) }
    await poll { limiter.waiting == 1 }
    let holder = Task { try await limiter.reserve(70, holdingLent: true, priority: PriorityControl(.visible)) }
    await poll { limiter.waiting == 2 }
    let small = Task { try await limiter.reserve(60, holdingLent: true, priority: PriorityControl(.prefetch)) }
    await poll { limiter.waiting == 3 }
    running.release()
    // Nothing but lent bytes is out: what fits overtakes.
    try await small.value.release()
    // None fits: a holder is refused, and lets go of what was lent.
    await #expect(throws: ByteSemaphore.Failure.exceedsCapacity(asked: 70, capacity: 60)) { try await holder.value }
    #expect(limiter.waiting == 1)
    for share in lent { share?.release() }
    #expect(try await large.value.bytes == 90)
  }
}
