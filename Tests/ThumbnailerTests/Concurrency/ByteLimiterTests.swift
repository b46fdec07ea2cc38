import Testing

@testable import Thumbnailer

@Suite(.timeLimit(.minutes(5))) struct ByteLimiterTests {
  private let visible = PriorityControl(.visible)

  @Test func sharesComeBackWhenTheyAreReleasedOrDropped() async throws {
    let limiter = ByteLimiter(capacity: 100)
    let first = try await limiter.reserve(60, priority: visible)
    var second: ByteLimiter.Reservation? = try await limiter.reserve(40, priority: visible)
    #expect(limiter.used == 100)
    first.release()
    first.release()
    #expect(limiter.used == 40)
    _ = second
    second = nil
    #expect(limiter.used == 0)
  }

  @Test func moreThanThereIsInAllIsRefusedAtOnce() async {
    let limiter = ByteLimiter(capacity: 100)
    await #expect(throws: ByteLimiter.Failure.exceedsCapacity(asked: 101, capacity: 100)) {
      _ = try await limiter.reserve(101, priority: visible)
    }
  }

  @Test func aLargeRequestIsNotStarvedBySmallOnes() async throws {
    let limiter = ByteLimiter(capacity: 100)
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
    let limiter = ByteLimiter(capacity: 100)
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
    let limiter = ByteLimiter(capacity: 100)
    let held = try await limiter.reserve(100, priority: visible)
    let waiting = Task { try await limiter.reserve(100, priority: visible) }
    await poll { limiter.waiting == 1 }
    waiting.cancel()
    await #expect(throws: ByteLimiter.Failure.cancelled) { _ = try await waiting.value }
    #expect(limiter.waiting == 0)
    held.release()
    #expect(limiter.used == 0)
  }

  @Test func aRaisedRequestOvertakes() async throws {
    let limiter = ByteLimiter(capacity: 10)
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
}
