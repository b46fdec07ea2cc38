@testable import ThumbnailCore

@Suite(.timeLimit(.minutes(5))) struct WorkerPoolTests {
  private let visible = PriorityControl(.visible)

  #if os(Linux)
    @Test func threadsGiveWayToOthersWhereTheyAreToldTo() async throws {
      let own = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
      for (givesWay, more) in [(true, Int32(5)), (false, 0)] {
        let pool = WorkerPool(name: "test", threads: 1, givesWay: givesWay)
        let niceness = try await pool.run { _ in getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }
        #expect(niceness == own + more)
      }
    }
  #endif

  @Test func workRunsOnTheSameThreadAgainAndAgain() async throws {
    let pool = WorkerPool(name: "test", threads: 1)
    var threads: Set<UInt> = []
    for _ in 0..<5 {
      let thread: Result<UInt, Never> = try await pool.run(priority: visible) { _ in .success(UInt(pthread_self())) }
      threads.insert(thread.get())
    }
    #expect(threads.count == 1)
  }

  @Test func whereNoThreadCanBeStartedTheCallersCarriesOutTheWork() async throws {
    let exits = Counter()
    // No address space has room for such a stack.
    let pool = WorkerPool(name: "test", threads: 2, stackBytes: 1 << 60) { exits.increment() }
    for number in 0..<3 {
      let result: Result<Int, Never> = try await pool.run(priority: visible) { _ in .success(number) }
      #expect(result.get() == number)
    }
    #expect(pool.running == 0 && pool.waiting == 0)
    #expect(exits.value == 3)
  }

  @Test func noMoreRunsAtOnceThanThereAreThreads() async throws {
    let pool = WorkerPool(name: "test", threads: 2)
    let (now, most, gate) = (Counter(), Counter(), Latch())
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<20 {
        group.addTask {
          let _: Result<Void, Never> = try await pool.run(priority: PriorityControl(.prefetch)) { _ in
            most.raise(to: now.increment())
            gate.wait()
            now.decrement()
            return .success(())
          }
        }
      }
      // All have come, and all that may run do.
      await poll { pool.running == 2 && pool.waiting == 18 && now.value == 2 }
      gate.open()
      try await group.waitForAll()
    }
    #expect(most.value == 2)
  }

  @Test func cancelledWorkThatWaitsNeverStarts() async throws {
    let pool = WorkerPool(name: "test", threads: 1)
    let gate = Latch()
    let running = Task { () throws -> Void in
      let _: Result<Void, Never> = try await pool.run(priority: visible) { _ in .success(gate.wait()) }
    }
    await poll { pool.running == 1 }
    let started = Counter()
    let waiting = Task { () throws -> Void in
      let _: Result<Void, Never> = try await pool.run(priority: visible) { _ in
        started.increment()
        return .success(())
      }
    }
    await poll { pool.waiting == 1 }
    waiting.cancel()
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    gate.open()
    try await running.value
    #expect(started.value == 0)
    #expect(pool.waiting == 0)
  }

  @Test func runningWorkIsToldOfItsCancellation() async throws {
    let pool = WorkerPool(name: "test", threads: 1)
    let seen = Counter()
    let task = Task { () throws -> Void in
      let _: Result<Void, Never> = try await pool.run(priority: visible) { flag in
        while !flag.isSet { sched_yield() }
        seen.increment()
        return .success(())
      }
    }
    await poll { pool.running == 1 }
    task.cancel()
    try await task.value
    #expect(seen.value == 1)
  }

  @Test func everyThreadSaysGoodbye() async throws {
    let goodbyes = Counter()
    var pool: WorkerPool? = WorkerPool(name: "test", threads: 2) { goodbyes.increment() }
    for _ in 0..<4 {
      let _: Result<Void, Never>? = try await pool?.run(priority: visible) { _ in .success(()) }
    }
    pool = nil
    await poll { goodbyes.value >= 1 }
    #expect(goodbyes.value <= 2)
  }
}
