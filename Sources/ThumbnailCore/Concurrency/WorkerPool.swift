import Glibc
import Synchronization

/// Runs blocking work on its own threads, so that Swift's cooperative threads never block.
///
/// Threads are started on demand. They end when the pool is dropped, each after calling `onThreadExit`. If neither the
/// system nor the pool has a thread, a caller's thread carries out the queued work.
package final class WorkerPool: Sendable {
  private struct Entry {
    let run: @Sendable () -> Void
    let cancel: @Sendable () -> Void
  }

  /// State shared by the threads. It is not the pool itself, so that the pool can be dropped while its threads wait.
  private final class Shared: @unchecked Sendable {
    // Safety: the variables are only accessed with `condition` locked.
    let condition = Condition()
    var queue = TwoLevelQueue<Entry>()
    var running = 0
    var threads = 0
    /// The threads that wait for work.
    var idle = 0
    let limit: Int
    var isClosed = false

    init(limit: Int) { self.limit = limit }

    func withLock<Result>(_ body: (Shared) -> Result) -> Result {
      condition.lock()
      defer { condition.unlock() }
      return body(self)
    }

    /// Queues a work item and wakes a waiting thread. Returns whether a thread has to be started; it is already
    /// counted.
    func enqueue(_ entry: Entry, at level: Priority) -> (TwoLevelQueue<Entry>.Ticket, startsThread: Bool) {
      condition.lock()
      let ticket = queue.enqueue(entry, at: level)
      let startsThread = threads < limit && threads < running + queue.count
      if startsThread { threads += 1 }
      let wakes = idle > 0
      condition.unlock()
      // After unlocking, because the woken thread would otherwise wait for the lock.
      if wakes { condition.signal() }
      return (ticket, startsThread)
    }

    /// Takes back the count of a thread that could not be started. Returns whether there is no other thread.
    func loseThread() -> Bool {
      withLock { shared in
        shared.threads -= 1
        return shared.threads == 0
      }
    }

    /// Carries out the queued work on the calling thread, then calls `onThreadExit`, as a thread of the pool does.
    func drain(_ onThreadExit: () -> Void) {
      while true {
        let entry = withLock { shared in
          let entry = shared.queue.dequeue()
          if entry != nil { shared.running += 1 }
          return entry
        }
        guard let entry else { break }
        entry.run()
        withLock { $0.running -= 1 }
      }
      onThreadExit()
    }

    /// The next work item; nil when the thread should exit.
    ///
    /// - Parameter hasFinished: Whether the calling thread has just carried out a work item.
    func next(hasFinished: Bool) -> Entry? {
      condition.lock()
      defer { condition.unlock() }
      if hasFinished { running -= 1 }
      while true {
        if let entry = queue.dequeue() {
          running += 1
          return entry
        }
        if isClosed {
          threads -= 1
          return nil
        }
        idle += 1
        condition.wait()
        idle -= 1
      }
    }
  }

  private let shared: Shared
  private let name: String
  private let stackBytes: Int
  private let givesWay: Bool
  private let onThreadExit: @Sendable () -> Void

  /// A pool of up to `threads` threads. Each calls `onThreadExit` when it ends.
  ///
  /// - Parameter givesWay: Whether its threads have a lower scheduling priority than others of the process (on Linux).
  package init(
    name: String, threads: Int, stackBytes: Int = 2 << 20, givesWay: Bool = false,
    onThreadExit: @escaping @Sendable () -> Void = {}
  ) {
    (self.name, self.stackBytes, self.givesWay, self.onThreadExit) = (name, stackBytes, givesWay, onThreadExit)
    shared = Shared(limit: max(1, threads))
  }

  deinit {
    shared.withLock { $0.isClosed = true }
    shared.condition.broadcast()
  }

  /// The most threads.
  package var threads: Int { shared.limit }
  /// The number of queued work items.
  package var waiting: Int { shared.withLock { $0.queue.count } }
  /// The number of running work items.
  package var running: Int { shared.withLock { $0.running } }

  /// Runs `work` on a thread of the pool and returns its result.
  ///
  /// Cancelling the calling task removes queued work, and sets the flag that was passed to running work.
  @inlinable
  package func run<Value: Sendable>(
    priority: PriorityControl = PriorityControl(.visible), _ work: @escaping @Sendable (CancellationFlag) -> Value
  ) async throws(CancellationError) -> Value {
    let outcome = Handover<Value>()
    try await perform(priority: priority) { outcome.value = work($0) }
    guard let value = outcome.value else { throw CancellationError() }
    return value
  }

  /// Runs `work`, which may fail, on a thread of the pool and returns its result. Throws `cancellation` if the calling
  /// task is cancelled while it is queued.
  package func run<Value: Sendable, Failure: Error>(
    orThrow cancellation: Failure, priority: PriorityControl = PriorityControl(.visible),
    _ work: @escaping @Sendable (CancellationFlag) throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let result: Result<Value, Failure>
    do {
      result = try await run(priority: priority) { cancelled in Result { () throws(Failure) in try work(cancelled) } }
    } catch {
      throw cancellation
    }
    return try result.get()
  }

  /// Runs `work` on a thread of the pool and returns its result, even if the calling task is cancelled.
  package func runToEnd<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    do {
      return try await Task { try await run { _ in work() } }.value
    } catch {
      preconditionFailure("a task that nobody cancels was cancelled")
    }
  }

  /// Runs `work` on a thread of the pool, and returns when it has ended.
  @usableFromInline
  func perform(
    priority: PriorityControl, _ work: @escaping @Sendable (CancellationFlag) -> Void
  ) async throws(CancellationError) {
    if Task.isCancelled { throw CancellationError() }
    let promise = Promise<Void, CancellationError>()
    let flag = CancellationFlag()
    let entry = Entry(
      run: {
        work(flag)
        promise.resume(with: .success(()))
      },
      cancel: { promise.resume(with: .failure(CancellationError())) })
    let shared = shared
    let level = priority.current
    let (ticket, startsThread) = shared.enqueue(entry, at: level)
    let observation = priority.observe(since: level) { level in
      shared.withLock { $0.queue.move(ticket, to: level) }
    }
    defer { priority.stopObserving(observation) }
    if startsThread, !startThread(), shared.loseThread() { shared.drain(onThreadExit) }
    try await promise.wait {
      flag.set()
      shared.withLock { $0.queue.remove(ticket) }?.cancel()
    }.get()
  }

  /// Returns false if the system has no thread left.
  private func startThread() -> Bool {
    SystemThread.start(name: name, stackBytes: stackBytes) { [shared, givesWay, onThreadExit] in
      if givesWay { SystemThread.giveWay() }
      var hasFinished = false
      while let entry = shared.next(hasFinished: hasFinished) {
        entry.run()
        hasFinished = true
      }
      onThreadExit()
    }
  }
}

/// Passes a value to the thread or task that waits for it.
@usableFromInline
package final class Handover<Value>: @unchecked Sendable {
  // Safety: it is written before the waiting one is woken, and read after that.
  @usableFromInline package var value: Value?

  @inlinable package init() {}
}

/// Tells work that runs on a thread that its result is no longer wanted.
package final class CancellationFlag: Sendable {
  private let flag = Atomic(false)

  package init() {}

  /// Whether the work should stop.
  package var isSet: Bool { flag.load(ordering: .relaxed) }

  /// Asks the work to stop.
  package func set() { flag.store(true, ordering: .relaxed) }
}
