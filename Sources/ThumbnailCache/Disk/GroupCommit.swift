import Dispatch
import Synchronization
import ThumbnailCore

/// Collects changes and commits them in batches, one at a time: when enough have been collected, after a delay, or when
/// a caller waits.
///
/// Uses the monotonic clock, so changes of the wall clock do not matter.
final class GroupCommit: Sendable {
  /// When to commit.
  struct Policy: Sendable {
    /// The longest that a change waits.
    var delay: DispatchTimeInterval = .milliseconds(50)
    /// The longest that recency updates wait …
    var touchDelay: DispatchTimeInterval = .seconds(5)
    /// … or how many are collected before a commit. At most four times as many are held.
    var touchCount = 1024
  }

  typealias Commit = @Sendable (PendingWrites.Batch) -> Result<Void, DiskCacheError>

  private struct Waiter {
    let ticket: UInt64
    let promise: Promise<Void, DiskCacheError>
  }

  private struct State {
    var pending = PendingWrites()
    var batchBytes: Int
    /// The highest ticket that a caller waits for.
    var urgent: UInt64 = 0
    var settled: UInt64 = 0
    var waiters: [Waiter] = []
    /// The failure of a batch that no flush has reported yet.
    var failure: DiskCacheError?
    var isRunScheduled = false
    var isDelaySet = false
    var isTouchDelaySet = false
    var isClosed = false

    var isDue: Bool {
      pending.bytes >= batchBytes || urgent > settled || pending.hasNotes && isClosed
    }
  }

  private enum Action {
    case none, runNow
    case runLater(DispatchTimeInterval, forTouches: Bool)
  }

  private let state: Mutex<State>
  private let policy: Policy
  private let commit: Commit
  private let thread = DispatchQueue(label: "thumbnailer.cache.commit", qos: .utility)

  /// Calls `commit` with batches of about `batchBytes` bytes, one at a time, on its own queue.
  init(batchBytes: Int, policy: Policy, commit: @escaping Commit) {
    state = Mutex(State(batchBytes: batchBytes))
    self.policy = policy
    self.commit = commit
  }

  /// Queues a change and waits until it and all before it are committed.
  ///
  /// - Throws: Why this or an earlier batch, since the last wait, could not be committed; `cancelled` when the task
  ///   was, though the change stays queued.
  func stageAndWait(_ operation: PendingWrites.Operation) async throws(DiskCacheError) {
    let promise = Promise<Void, DiskCacheError>()
    try stage(operation, resuming: promise)
    try await promise.wait { promise.resume(with: .failure(.cancelled)) }.get()
  }

  /// Queues a change. Look-ups see it from now on. With a promise it is committed soon, and the promise resumed then.
  func stage(
    _ operation: PendingWrites.Operation, resuming promise: Promise<Void, DiskCacheError>? = nil
  ) throws(DiskCacheError) {
    let action = state.withLock { state -> Action? in
      if state.isClosed { return nil }
      let ticket = state.pending.stage(operation)
      if let promise {
        state.urgent = ticket
        state.waiters.append(Waiter(ticket: ticket, promise: promise))
      }
      return nextAction(&state)
    }
    guard let action else { throw .closed }
    perform(action)
  }

  /// Commits what is queued without further delay.
  func writeSoon() {
    perform(
      state.withLock { state in
        state.urgent = state.pending.lastTicket
        return nextAction(&state)
      })
  }

  /// Records that a row was read.
  func touch(_ row: Int64) { note { [policy] in $0.touch(row, limit: 4 * policy.touchCount) } }

  /// Counts a look-up.
  func count(isHit: Bool) { note { $0.count(isHit: isHit) } }

  /// Records something that may be written late.
  private func note(_ add: (inout PendingWrites) -> Void) {
    perform(
      state.withLock { state in
        add(&state.pending)
        if state.pending.touchedCount == policy.touchCount, !state.isRunScheduled {
          state.isRunScheduled = true
          return .runNow
        }
        guard !state.isTouchDelaySet else { return .none }
        state.isTouchDelaySet = true
        return .runLater(policy.touchDelay, forTouches: true)
      })
  }

  /// Schedules a commit soon, even without changes, so that a missing file is created again. Does nothing while one is
  /// scheduled.
  func requestRun() {
    let isNeeded = state.withLock { state in
      if state.isRunScheduled || state.isClosed { return false }
      _ = state.pending.stage(.barrier)
      state.isRunScheduled = true
      return true
    }
    if isNeeded { perform(.runNow) }
  }

  /// Reads the pending changes.
  func pending<Value>(_ read: (PendingWrites) -> Value) -> Value {
    state.withLock { read($0.pending) }
  }

  /// Sets the approximate size of batches in bytes.
  func setBatchBytes(_ bytes: Int) {
    state.withLock { $0.batchBytes = bytes }
  }

  /// Commits everything and rejects further changes. Blocks until done unless `waits` is false.
  func close(waits: Bool, then finish: @escaping @Sendable () -> Void) {
    let isFirst = state.withLock { state in
      defer {
        state.isClosed = true
        state.urgent = state.pending.lastTicket
      }
      return !state.isClosed
    }
    let last: @Sendable () -> Void = {
      guard isFirst else { return }
      self.run()
      finish()
    }
    if waits { thread.sync(execute: last) } else { thread.async(execute: last) }
  }

  private func nextAction(_ state: inout State) -> Action {
    if state.isRunScheduled { return .none }
    if state.isDue {
      state.isRunScheduled = true
      return .runNow
    }
    guard !state.pending.isEmpty, !state.isDelaySet else { return .none }
    state.isDelaySet = true
    return .runLater(policy.delay, forTouches: false)
  }

  private func perform(_ action: Action) {
    switch action {
    case .none: break
    case .runNow: thread.async { self.run() }
    case .runLater(let delay, let forTouches):
      thread.asyncAfter(deadline: .now() + delay) {
        self.state.withLock { state in
          if forTouches { state.isTouchDelaySet = false } else { state.isDelaySet = false }
          state.isRunScheduled = true
        }
        self.run()
      }
    }
  }

  /// Commits one batch, and more as long as they are due.
  private func run() {
    var goesOn = true
    while goesOn {
      let batch = state.withLock { state in
        let batch = state.pending.takeBatch(byteLimit: state.batchBytes)
        if batch == nil { state.isRunScheduled = false }
        return batch
      }
      guard let batch else { return }
      let result = commit(batch)
      let (ready, failure, action) = state.withLock { state -> ([Waiter], DiskCacheError?, Action) in
        state.pending.settle(batch)
        state.settled = max(state.settled, batch.lastTicket)
        if case .failure(let error) = result { state.failure = state.failure ?? error }
        let ready = state.waiters.filter { $0.ticket <= state.settled }
        state.waiters.removeAll { $0.ticket <= state.settled }
        let failure = state.failure
        if !ready.isEmpty { state.failure = nil }
        goesOn = state.isDue
        if goesOn { return (ready, failure, .none) }
        state.isRunScheduled = false
        return (ready, failure, nextAction(&state))
      }
      let isWritten = if case .success = result { true } else { false }
      for operation in batch.operations { operation.settle(isWritten: isWritten) }
      for waiter in ready { waiter.promise.resume(with: failure.map { .failure($0) } ?? .success(())) }
      perform(action)
    }
  }
}
