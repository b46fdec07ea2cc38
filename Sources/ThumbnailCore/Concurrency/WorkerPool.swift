import Foundation

/// Runs blocking work on its own threads, so that Swift's cooperative threads never block.
///
/// Threads are started on demand. They end when the pool is dropped, each after calling `onThreadExit`.
package final class WorkerPool: Sendable {
  private struct Entry {
    let run: @Sendable () -> Void
    let cancel: @Sendable () -> Void
  }

  /// State shared by the threads. Not the pool itself, so that the pool can be dropped while its threads wait.
  private final class Shared: @unchecked Sendable {
    // Safety: the variables are only accessed with `condition` locked.
    let condition = NSCondition()
    var queue = TwoLevelQueue<Entry>()
    var running = 0
    var threads = 0
    let limit: Int
    var isClosed = false

    init(limit: Int) { self.limit = limit }

    func withLock<Result>(_ body: (Shared) -> Result) -> Result {
      condition.lock()
      defer { condition.unlock() }
      return body(self)
    }

    /// The next work item; nil when the thread should exit.
    func next() -> Entry? {
      condition.lock()
      defer { condition.unlock() }
      while true {
        if let entry = queue.dequeue() {
          running += 1
          return entry
        }
        if isClosed {
          threads -= 1
          return nil
        }
        condition.wait()
      }
    }

    func finished() { withLock { $0.running -= 1 } }
  }

  private let shared: Shared
  private let name: String
  private let onThreadExit: @Sendable () -> Void

  /// A pool named `name` of up to `threads` threads. `onThreadExit` is called on each as it ends.
  package init(name: String, threads: Int, onThreadExit: @escaping @Sendable () -> Void = {}) {
    self.name = name
    self.onThreadExit = onThreadExit
    shared = Shared(limit: max(1, threads))
  }

  deinit {
    shared.withLock { $0.isClosed = true }
    shared.condition.broadcast()
  }

  /// The number of queued work items.
  var waiting: Int { shared.withLock { $0.queue.count } }
  /// The number of running work items.
  package var running: Int { shared.withLock { $0.running } }

  /// Runs `work` on a thread of the pool and returns its result.
  ///
  /// Cancelling the calling task removes queued work, and sets the flag that was passed to running work.
  package func run<Success: Sendable, Failure: Error>(
    priority: PriorityControl, _ work: @escaping @Sendable (CancellationFlag) -> Result<Success, Failure>
  ) async throws(CancellationError) -> Result<Success, Failure> {
    if Task.isCancelled { throw CancellationError() }
    let promise = Promise<Result<Success, Failure>, CancellationError>()
    let flag = CancellationFlag()
    let entry = Entry(
      run: { promise.resume(with: .success(work(flag))) },
      cancel: { promise.resume(with: .failure(CancellationError())) })
    let shared = shared
    let ticket = shared.withLock { shared in
      shared.condition.signal()
      return shared.queue.enqueue(entry, at: priority.current)
    }
    let observation = priority.observe { level in
      shared.withLock { $0.queue.move(ticket, to: level) }
    }
    defer { priority.stopObserving(observation) }
    startThreadIfNeeded()
    return try await promise.wait {
      flag.set()
      shared.withLock { $0.queue.remove(ticket) }?.cancel()
    }.get()
  }

  private func startThreadIfNeeded() {
    let starts = shared.withLock { shared in
      guard shared.threads < shared.limit, shared.threads < shared.running + shared.queue.count else { return false }
      shared.threads += 1
      return true
    }
    guard starts else { return }
    let thread = Thread { [shared, onThreadExit] in
      while let entry = shared.next() {
        entry.run()
        shared.finished()
      }
      onThreadExit()
    }
    thread.name = name
    thread.stackSize = 2 << 20
    thread.start()
  }
}
