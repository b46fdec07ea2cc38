package import Dispatch
import Synchronization
import ThumbnailCore

/// When to commit.
package struct CommitPolicy: Sendable {
  /// The longest wait of a change.
  let delay: DispatchTimeInterval
  /// The longest wait of recency updates.
  let touchDelay: DispatchTimeInterval
  /// The number of recency updates that causes a commit. At most four times as many are kept.
  let touchCount: Int

  package init(
    delay: DispatchTimeInterval = .milliseconds(50), touchDelay: DispatchTimeInterval = .seconds(5),
    touchCount: Int = 1024
  ) {
    (self.delay, self.touchDelay, self.touchCount) = (delay, touchDelay, touchCount)
  }
}

/// Collects changes and commits them in batches, one batch at a time: when enough changes are pending, after a delay,
/// or when a caller waits.
///
/// Uses the monotonic clock, so changes of the wall clock do not matter.
final class GroupCommit: Sendable {
  private struct State {
    var pending = PendingWrites()
    /// Whether a caller waits for the pending changes.
    var isUrgent = false
    /// The failure of a batch that was not reported to any caller yet.
    var failure: DiskCacheError?
    var lostBytes = 0
    var isFailing = false
    var isRunScheduled = false
    var isDelaySet = false
    var isTouchDelaySet = false
    var isClosed = false

    /// Whether a batch must be committed at once.
    func isDue(_ batchBytes: Int, _ policy: CommitPolicy) -> Bool {
      pending.bytes >= batchBytes || pending.touchedCount >= policy.touchCount
        || isUrgent && (!pending.isEmpty || pending.touchedCount > 0 && isClosed)
    }
  }

  /// The room for pending writes, in bytes.
  let room = WeightedSemaphore(capacity: 8 << 20)
  private let state = Mutex(State())
  private let batchBytes: Int
  private let policy: CommitPolicy
  private let commit: @Sendable (PendingWrites.Batch) -> Result<Void, DiskCacheError>
  private let thread = DispatchQueue(label: "thumbnailer.cache.commit", qos: .utility)

  /// Calls `commit` with batches of about `batchBytes` bytes, one at a time, on its own queue.
  init(
    batchBytes: Int, policy: CommitPolicy,
    commit: @escaping @Sendable (PendingWrites.Batch) -> Result<Void, DiskCacheError>
  ) {
    (self.batchBytes, self.policy, self.commit) = (batchBytes, policy, commit)
  }

  /// Queues thumbnails of one image. They can be read at once.
  ///
  /// - Parameter reservation: Their share of the room. By default they take it without waiting, and the caller limits
  ///   pending writes (`ThumbnailCache.waitForRoom`).
  func store(
    _ entries: [CacheEntry], of record: SourceRecord, replacing: Replacement = .none,
    in reservation: WeightedSemaphore.Reservation? = nil
  ) throws(DiskCacheError) -> StoreReceipt {
    let receipt = StoreReceipt(
      reservation ?? room.overdraw(share(of: entries)), isLikely: state.withLock { !$0.isFailing })
    do throws(DiskCacheError) {
      try stage(.store(record, entries, replacing, receipt))
      return receipt
    } catch {
      receipt.settle(isWritten: false)
      throw error
    }
  }

  /// The bytes of room that thumbnails take.
  func share(of entries: [CacheEntry]) -> Int {
    min(entries.reduce(0) { $0 + $1.thumbnail.data.count }, room.capacity)
  }

  /// Queues a change and waits until it and all before it are committed.
  ///
  /// - Throws: The reason why this batch, or an earlier one since the last wait, could not be committed; `cancelled` if
  ///   the task was cancelled, but the change stays queued.
  func stageAndWait(_ operation: PendingWrites.Operation) async throws(DiskCacheError) {
    let promise = Promise<Void, DiskCacheError>()
    try stage(operation, resuming: promise)
    try await promise.wait { promise.resume(with: .failure(.cancelled)) }.get()
  }

  /// Queues a change, which look-ups see at once. With a promise it is committed soon, and then the promise is resumed.
  func stage(
    _ operation: PendingWrites.Operation, resuming promise: Promise<Void, DiskCacheError>? = nil
  ) throws(DiskCacheError) {
    let isStaged = state.withLock { state in
      if state.isClosed { return false }
      state.pending.stage(operation, resuming: promise)
      if promise != nil { state.isUrgent = true }
      schedule(&state)
      return true
    }
    if !isStaged { throw .closed }
  }

  /// Commits queued changes without further delay.
  func writeSoon() {
    state.withLock { state in
      state.isUrgent = !state.pending.isEmpty
      schedule(&state)
    }
  }

  /// Records a row that was read. Written with a delay.
  func noteUse(ofRow row: Int64) {
    state.withLock { state in
      state.pending.noteUse(ofRow: row, limit: 4 * policy.touchCount)
      schedule(&state)
    }
  }

  /// Schedules a commit, even without changes, so that a missing file is created again. Does nothing if one is
  /// scheduled already.
  func requestRun() {
    state.withLock { state in
      if state.isRunScheduled || state.isClosed { return }
      state.pending.stage(.barrier)
      state.isUrgent = true
      schedule(&state)
    }
  }

  /// Reads the pending changes.
  func pending<Value>(_ read: (PendingWrites) -> Value) -> Value { state.withLock { read($0.pending) } }

  /// The bytes of thumbnails that could not be written.
  var lostBytes: Int { state.withLock { $0.lostBytes } }

  /// Commits everything and rejects further changes. Blocks until done unless `waits` is false.
  func close(waits: Bool, then finish: @escaping @Sendable () -> Void) {
    let wasClosed = state.withLock { state in
      defer { (state.isClosed, state.isUrgent) = (true, true) }
      return state.isClosed
    }
    let last: @Sendable () -> Void = {
      if wasClosed { return }
      self.run()
      finish()
    }
    if waits { thread.sync(execute: last) } else { thread.async(execute: last) }
  }

  /// Schedules the next commit.
  private func schedule(_ state: inout State) {
    if state.isRunScheduled || state.isClosed { return }
    if state.isDue(batchBytes, policy) {
      state.isRunScheduled = true
      thread.async { self.run() }
    } else if !state.pending.isEmpty, !state.isDelaySet {
      state.isDelaySet = true
      run(after: policy.delay) { $0.isDelaySet = false }
    } else if state.pending.touchedCount > 0, !state.isTouchDelaySet {
      state.isTouchDelaySet = true
      run(after: policy.touchDelay) { $0.isTouchDelaySet = false }
    }
  }

  private func run(after delay: DispatchTimeInterval, _ begin: @escaping @Sendable (inout State) -> Void) {
    thread.asyncAfter(deadline: .now() + delay) {
      self.state.withLock { begin(&$0) }
      self.run()
    }
  }

  /// Commits one batch, and further batches as long as they are due.
  private func run() {
    while let batch = takeBatch() {
      let result = commit(batch)
      let (told, goesOn) = state.withLock { settle(batch, result, &$0) }
      let isWritten = if case .success = result { true } else { false }
      for case .store(_, _, _, let receipt) in batch.operations { receipt?.settle(isWritten: isWritten) }
      for waiter in batch.waiters { waiter.resume(with: told) }
      if !goesOn { return }
    }
  }

  private func takeBatch() -> PendingWrites.Batch? {
    state.withLock { state in
      let batch = state.pending.takeBatch(byteLimit: batchBytes)
      state.isRunScheduled = batch != nil
      if state.pending.isEmpty, !state.isClosed { state.isUrgent = false }
      return batch
    }
  }

  /// Returns the result for the waiters, and whether another batch is due.
  private func settle(
    _ batch: PendingWrites.Batch, _ result: Result<Void, DiskCacheError>, _ state: inout State
  ) -> (told: Result<Void, DiskCacheError>, goesOn: Bool) {
    let payload = batch.payloadBytes
    state.pending.settle(batch)
    switch result {
    case .success: if payload > 0 { state.isFailing = false }
    case .failure(let error):
      state.failure = state.failure ?? error
      state.lostBytes += payload
      if payload > 0 { state.isFailing = true }
    }
    let told: Result<Void, DiskCacheError> = state.failure.map { .failure($0) } ?? .success(())
    if !batch.waiters.isEmpty { state.failure = nil }
    state.isRunScheduled = state.isDue(batchBytes, policy)
    let goesOn = state.isRunScheduled
    schedule(&state)
    return (told, goesOn)
  }
}
