import ImageCodec
import ThumbnailCore

/// A job's access to the waiters for its source.
struct JobWaiters: Sendable {
  let id: RunningJobs.JobID
  let jobs: RunningJobs
  /// The variants with waiters.
  let demand: VariantDemand

  /// Takes the variants requested since the last call, the largest first.
  func takeVariants() -> [Variant] { jobs.state.withLock { $0.table.takeVariants(for: id) } }

  /// The variants that still have waiters.
  func stillWanted(_ variants: [Variant]) -> [Variant] {
    jobs.state.withLock { $0.table.stillWanted(variants, for: id) }
  }

  /// The variants that go to the memory cache, and not to the disk cache alone.
  func keptInMemory(_ variants: [Variant]) -> [Variant] {
    jobs.state.withLock { state in variants.filter { state.table.keepsInMemory($0, for: id) } }
  }

  /// Whether the job has ended: it did so with its last waiter.
  var isDone: Bool { jobs.state.withLock { !$0.table.isRunning(id) } }

  /// Resumes all waiters for one variant.
  ///
  /// - Parameter counting: Called with their number before they are resumed, so that they find themselves counted.
  func resume(
    _ variant: Variant, with result: Result<ThumbnailResponse, ThumbnailError>, counting: (Int) -> Void = { _ in }
  ) {
    let sinks = jobs.state.withLock { state in
      demand.remove(variant)
      let sinks = state.table.finish(variant, for: id)
      if !state.table.isRunning(id) { state.remove(id) }
      return sinks
    }
    counting(sinks.count)
    for sink in sinks { sink.resume(with: result) }
  }

  /// Ends the job and resumes all its waiters: with the error, except for the variants in `responses`.
  ///
  /// In one step, so that a waiter that requests again at once does not join this job.
  ///
  /// - Parameter counting: Called with the variants that fail, one per waiter, before any is resumed, so that waiters
  ///   find themselves counted.
  func fail(
    with error: ThumbnailError, except responses: [Variant: ThumbnailResponse] = [:],
    counting: ([Variant]) -> Void
  ) {
    let ended = jobs.state.withLock { state in
      state.remove(id)
      return state.table.end(id)
    }
    counting(ended.map(\.variant).filter { responses[$0] == nil })
    for (variant, sink) in ended { sink.resume(with: responses[variant].map { .success($0) } ?? .failure(error)) }
  }
}

extension RunningJobs.Sink {
  /// Delivers a result, with the time that this waiter has waited.
  fileprivate func resume(with result: Result<ThumbnailResponse, ThumbnailError>) {
    promise.resume(with: result.map { $0.after(.now - started) })
  }
}
