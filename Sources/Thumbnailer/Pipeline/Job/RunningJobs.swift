import Synchronization
import ThumbnailCore

/// The running jobs of a pipeline and their waiters: how requests join jobs, change their priority and leave.
///
/// `JobTable` decides. Its actions are carried out here after unlocking.
final class RunningJobs: Sendable {
  typealias JobID = JobTable<Sink>.JobID

  /// Receives a waiter's result.
  struct Sink: Sendable {
    let promise: Promise<ThumbnailResponse, ThumbnailError>
    let started: ContinuousClock.Instant

    /// Delivers a result with the duration of this waiter's wait.
    fileprivate func resume(with result: Result<ThumbnailResponse, ThumbnailError>) {
      promise.resume(with: result.map { $0.after(.now - started) })
    }
  }

  /// A request that waits for its result.
  struct Waiter: Sendable {
    let request: ThumbnailRequest
    fileprivate let id: JobTable<Sink>.WaiterID
    fileprivate let sink: Sink
  }

  let table = Mutex(JobTable<Sink>())
  let stages: PipelineStages

  init(_ stages: PipelineStages) { self.stages = stages }

  /// The number of sources with a running job.
  var count: Int { table.withLock { $0.jobCount } }

  /// The progress of an image's body; nil if no job for requests with these options is running.
  func progress(of source: ImageSource, options: RequestOptions = RequestOptions()) -> BodyProgress? {
    table.withLock { table in
      table.job(of: .init(source, options: options)).flatMap { table.work[$0]?.context.progress }
    }
  }

  /// Joins all the requests at once, so that a job started for them finds them all in its first round.
  func join(_ requests: [ThumbnailRequest], since started: ContinuousClock.Instant) -> [Waiter] {
    guard !requests.isEmpty else { return [] }
    var joined: [(JobID, ThumbnailRequest)] = []
    let waiters = table.withLock { table in
      requests.map { request in
        let sink = Sink(promise: Promise(), started: started)
        let (waiter, isNew) = table.join(request, sink: sink)
        if isNew {
          table.work[waiter.job] = start(waiter.job, for: request)
        } else {
          table.work[waiter.job]?.context.add(request)
          joined.append((waiter.job, request))
        }
        return Waiter(request: request, id: waiter, sink: sink)
      }
    }
    for (id, request) in joined {
      settlePriority(of: id)
      if request.client != nil { stages.runner.turns.admit() }
      stages.monitor.add(1, to: \.joins)
      stages.monitor.send(request.source, .joined(request.variant))
    }
    return waiters
  }

  /// Waits for a request's result, at most until the request's own deadline. Cancelling the calling task cancels the
  /// request.
  func result(of waiter: Waiter) async -> Result<ThumbnailResponse, ThumbnailError> {
    let deadline = waiter.request.timeout.map { timeout in
      Task { [weak self] in
        // Capped, because adding a longer duration to the clock could overflow.
        let end = waiter.sink.started + min(timeout, .seconds(365 * 86_400))
        do { try await Task.sleep(until: end) } catch { return }
        let reason = "not finished within the request's timeout of \(timeout.inWords); try again, or allow more time"
        self?.leave(waiter, with: .timedOut(reason: reason))
      }
    }
    defer { deadline?.cancel() }
    return await waiter.sink.promise.wait { [weak self] in self?.leave(waiter) }
  }

  /// Changes the priority of one waiter, and so its job's.
  func setPriority(of waiter: Waiter, to priority: Priority) {
    guard let id = table.withLock({ $0.setPriority(of: waiter.id, to: priority) }) else { return }
    settlePriority(of: id)
  }

  /// Sets a job's priority from its current waiters, even if some join or leave meanwhile.
  private func settlePriority(of id: JobID) {
    while true {
      let (control, wanted) = table.withLock { ($0.work[id]?.context.priority, $0.priority(of: id)) }
      guard let control, let wanted, control.current != wanted else { return }
      control.set(wanted)
    }
  }

  /// Starts a job with the lock held, so that its first access to the table comes after this.
  func start(_ id: JobID, for request: ThumbnailRequest, isRevalidation: Bool = false) -> JobTable<Sink>.Work {
    let context = JobContext(
      request.source, policy: stages.policy(for: request.options), priority: PriorityControl(request.priority))
    context.add(request)
    let job = SourceJob(id, context, stages: stages, jobs: self, isRevalidation: isRevalidation)
    // A job only submits work to our own threads, where the priority applies. Its task has its waiters' task priority,
    // because another one would wake other threads at each step.
    return .init(task: Task { await job.run() }, context: context)
  }

  /// Ends a request that has no result yet with an error. The job stops if it has no other waiters.
  func leave(_ waiter: Waiter, with error: ThumbnailError = .cancelled) {
    let variant = waiter.request.variant
    let (sink, ended) = table.withLock { table in
      let left = table.leave(waiter.id)
      if !table.isWanted(variant, for: waiter.id.job) { table.work[waiter.id.job]?.context.demand.remove(variant) }
      return left
    }
    guard let sink else { return }
    if error != .cancelled {
      stages.monitor.add(1, to: \.failures)
      stages.monitor.send(waiter.request.source, .failed([variant], error))
    }
    if let ended {
      ended.task.cancel()
      stages.monitor.send(waiter.request.source, .cancelled)
    }
    settlePriority(of: waiter.id.job)
    sink.promise.resume(with: .failure(error))
  }

  /// Resumes all waiters for one variant.
  ///
  /// - Parameter counting: Called with their number before they are resumed, so that the counts include them.
  func finish(
    _ variant: Variant, of id: JobID, with result: Result<ThumbnailResponse, ThumbnailError>,
    counting: (Int) -> Void = { _ in }
  ) {
    let sinks = table.withLock { table in
      table.work[id]?.context.demand.remove(variant)
      return table.finish(variant, for: id)
    }
    counting(sinks.count)
    for sink in sinks { sink.resume(with: result) }
  }

  /// Ends a job and resumes all its waiters, with `responses` for the variants there and the error for the others.
  ///
  /// In one step, so that a waiter that requests again at once does not join this job.
  ///
  /// - Parameter counting: Called with the failed variants, one for each waiter, before any is resumed, so that the
  ///   counts include them.
  func end(
    _ id: JobID, with error: ThumbnailError, except responses: [Variant: ThumbnailResponse] = [:],
    counting: ([Variant]) -> Void
  ) {
    let ended = table.withLock { $0.end(id) }
    counting(ended.map(\.variant).filter { responses[$0] == nil })
    for (variant, sink) in ended { sink.resume(with: responses[variant].map { .success($0) } ?? .failure(error)) }
  }

  /// Removes images from the caches, and keeps running jobs from storing them. `detach` and `forget` run in one step,
  /// so that a later job finds nothing and an earlier job stores nothing.
  func remove(_ detach: (inout JobTable<Sink>) -> [JobID], from forget: () -> Void) {
    table.withLock { table in
      for id in detach(&table) { table.work[id]?.context.permit.revoke() }
      forget()
    }
  }

  /// Cancels all jobs, or only the background revalidations. They must have no waiters.
  func cancelAll(onlyRevalidations: Bool = false) {
    let cancelled = table.withLock { table in
      let ended = table.work.filter { !onlyRevalidations || table.revalidations.contains($0.key) }
      for id in ended.keys { _ = table.end(id) }
      return ended.values
    }
    for work in cancelled { work.task.cancel() }
  }
}

/// Background revalidation of stale thumbnails that were served already (`stale-while-revalidate`).
extension RunningJobs {
  /// Waits until all background revalidations have ended. Cancelling the calling task cancels them.
  func finishRevalidations() async {
    await withTaskCancellationHandler {
      while let task = firstRevalidation { await task.value }
    } onCancel: {
      cancelAll(onlyRevalidations: true)
    }
  }

  private var firstRevalidation: Task<Void, Never>? {
    table.withLock { table in table.revalidations.first.flatMap { table.work[$0]?.task } }
  }

  /// Starts a job that revalidates a stored thumbnail, or adds it to the running one. False if too many are running.
  /// Then the waiter waits for the server.
  func revalidateBehind(_ variant: Variant, for job: JobContext) -> Bool {
    var request = ThumbnailRequest(job.source, variant: variant, priority: .prefetch)
    request.options = job.policy.options
    return table.withLock { table in
      let running = table.job(of: .init(job.source, options: job.policy.options, isRevalidation: true))
      if let running, table.isWanted(variant, for: running) { return true }
      guard running != nil || table.revalidations.count < stages.configuration.mostRevalidations else { return false }
      // A revalidation has no waiter.
      let (waiter, isNew) = table.join(
        request, isRevalidation: true, sink: Sink(promise: Promise(), started: .now))
      if isNew {
        table.work[waiter.job] = start(waiter.job, for: request, isRevalidation: true)
      } else {
        table.work[waiter.job]?.context.add(request)
      }
      return true
    }
  }
}
