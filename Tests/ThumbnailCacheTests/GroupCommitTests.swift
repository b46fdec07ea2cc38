@testable import ThumbnailCache
@testable import TestSupport

/// When changes are committed, and who hears of failures. Without a database.
@Suite(.timeLimit(.minutes(5))) struct GroupCommitTests {
  /// Stands for the database.
  private final class Recorder: Sendable {
    private struct State {
      var batches: [PendingWrites.Batch] = []
      var failure: DiskCacheError?
    }

    private let state = Mutex(State())

    /// Notes the batch and answers in one step: whoever sees the batch knows that its answer is given.
    func commit(_ batch: PendingWrites.Batch) -> Result<Void, DiskCacheError> {
      state.withLock { state in
        state.batches.append(batch)
        return state.failure.map { .failure($0) } ?? .success(())
      }
    }

    /// Has all commits fail from now on; nil: succeed.
    func fail(with failure: DiskCacheError?) { state.withLock { $0.failure = failure } }

    var batches: [PendingWrites.Batch] { state.withLock(\.batches) }
    var operationCounts: [Int] { batches.map(\.operations.count) }
  }

  private let recorder = Recorder()

  private func commits(batchBytes: Int = 1 << 20, policy: CommitPolicy) -> GroupCommit {
    GroupCommit(batchBytes: batchBytes, policy: policy) { [recorder] in recorder.commit($0) }
  }

  private func store(_ number: Int) -> PendingWrites.Operation {
    .store(Sample.record(number), [Sample.entry(number, bytes: 1000)])
  }

  @Test func changesOfAMomentAreCommittedTogether() async throws {
    let commits = commits(policy: .never)
    for number in 0..<20 { try commits.stage(store(number)) }
    #expect(recorder.operationCounts.isEmpty)
    try await commits.stageAndWait(.barrier)
    #expect(recorder.operationCounts == [21])
  }

  @Test func theMomentEndsByItself() async throws {
    let commits = commits(policy: .init(delay: .seconds(0)))
    for number in 0..<2 {
      try commits.stage(store(number))
      #expect(await eventually { recorder.operationCounts.count == number + 1 })
    }
  }

  @Test func aFullBatchIsCommittedAtOnce() async throws {
    let commits = commits(batchBytes: 5000, policy: .never)
    for number in 0..<5 { try commits.stage(store(number)) }
    #expect(await eventually { recorder.operationCounts == [5] })
  }

  @Test func whoWaitsHasEverythingBeforeCommitted() async throws {
    let commits = commits(batchBytes: 3000, policy: .never)
    for number in 0..<2 { try commits.stage(store(number)) }
    try await commits.stageAndWait(.barrier)
    #expect(recorder.operationCounts.reduce(0, +) == 3)
    #expect(commits.pending { $0.variants(of: Sample.source(1).key).isEmpty })
  }

  @Test func aFailureReachesTheNextWhoWaitsOnce() async throws {
    let commits = commits(batchBytes: 1000, policy: .never)
    recorder.fail(with: .diskFull(path: "p"))
    try commits.stage(store(1))
    #expect(await eventually { recorder.operationCounts.count == 1 })
    recorder.fail(with: nil)
    await #expect(throws: DiskCacheError.diskFull(path: "p")) { try await commits.stageAndWait(.barrier) }
    try await commits.stageAndWait(.barrier)
  }

  @Test func manyReadsAreNotedWithoutAChange() async throws {
    let commits = commits(policy: .never)
    for row in 0..<9 { commits.noteUse(ofRow: Int64(row)) }
    #expect(recorder.operationCounts.isEmpty)
    commits.noteUse(ofRow: 9)
    #expect(await eventually { recorder.operationCounts == [0] })
    #expect(recorder.batches.first?.touched.count == 10)
  }

  @Test func fewReadsAreNotedAfterAWhile() async throws {
    let commits = commits(policy: .init(touchDelay: .seconds(0)))
    commits.noteUse(ofRow: 1)
    #expect(await eventually { recorder.operationCounts == [0] })
  }

  @Test func closingCommitsEverythingAndTakesNothingMore() throws {
    let commits = commits(batchBytes: 2000, policy: .never)
    try commits.stage(store(1))
    commits.noteUse(ofRow: 7)
    let finished = Atomic(false)
    commits.close(waits: true) { finished.store(true, ordering: .relaxed) }
    let isFinished = finished.load(ordering: .relaxed)
    #expect(isFinished)
    #expect(recorder.operationCounts == [1])
    #expect(recorder.batches.first?.touched == [7])
    #expect(throws: DiskCacheError.closed) { try commits.stage(store(2)) }
  }

  @Test func aWaiterWhoseTaskIsCancelledGoesOn() async throws {
    let commits = commits(policy: .never)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await commits.stageAndWait(.barrier)
    }
    _ = await task.result
    try await commits.stageAndWait(.barrier)
    #expect(recorder.operationCounts.reduce(0, +) == 2)
  }
}
