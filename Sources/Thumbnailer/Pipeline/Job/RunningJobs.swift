import Synchronization
import ThumbnailCore

/// The running jobs of a pipeline and their waiters: how requests join jobs, change their priority and leave.
///
/// `JobTable` decides; its actions are carried out here after unlocking.
final class RunningJobs: Sendable {
  typealias JobID = JobTable<Sink>.JobID

  /// Where a waiter's result is delivered.
  struct Sink: Sendable {
    let promise: Promise<ThumbnailResponse, ThumbnailError>
    let started: ContinuousClock.Instant
  }

  /// A request that waits for its result.
  struct Waiter: Sendable {
    let request: ThumbnailRequest
    fileprivate let id: JobTable<Sink>.WaiterID
    fileprivate let sink: Sink
  }

  /// A job's task and what can be changed while it runs.
  struct RunningJob {
    let task: Task<Void, Never>
    let context: JobContext
  }

  struct State {
    var table = JobTable<Sink>()
    var running: [JobID: RunningJob] = [:]
    /// The jobs that are background revalidations.
    var revalidations: Set<JobID> = []

    /// Removes a job that has ended.
    mutating func remove(_ id: JobID) {
      running[id] = nil
      revalidations.remove(id)
    }
  }

  let state = Mutex(State())
  let stages: PipelineStages

  init(_ stages: PipelineStages) { self.stages = stages }

  /// The number of sources with a running job.
  var count: Int { state.withLock { $0.table.jobCount } }

  /// How much of an image's body has arrived; nil if no job for requests with these options runs.
  func progress(of source: ImageSource, options: RequestOptions = RequestOptions()) -> BodyProgress? {
    state.withLock { state in
      state.table.job(of: .init(source, options: options)).flatMap { state.running[$0]?.context.progress }
    }
  }

  /// Joins all the requests at once, so that a job started for them finds them all in its first round.
  func join(_ requests: [ThumbnailRequest], since started: ContinuousClock.Instant) -> [Waiter] {
    guard !requests.isEmpty else { return [] }
    var joined: [(JobID, ThumbnailRequest)] = []
    let waiters = state.withLock { state in
      requests.map { request in
        let sink = Sink(promise: Promise(), started: started)
        let (waiter, action) = state.table.join(request, sink: sink)
        switch action {
        case .joined(let id, _):
          state.running[id]?.context.add(request)
          joined.append((id, request))
        case .start(let id): state.running[id] = start(id, for: request)
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

  /// Waits for a request's result, until its own deadline if it has one. Cancelling the calling task cancels the
  /// request.
  func result(of waiter: Waiter) async -> Result<ThumbnailResponse, ThumbnailError> {
    let deadline = waiter.request.timeout.map { timeout in
      Task { [weak self] in
        // Capped, since adding a longer duration to the clock could overflow.
        let end = waiter.sink.started + min(timeout, .seconds(365 * 86_400))
        do { try await Task.sleep(until: end) } catch { return }
        let reason = "not done within the request's own timeout of \(timeout.inWords); try again, or allow it more time"
        self?.leave(waiter, with: .timedOut(reason: reason))
      }
    }
    defer { deadline?.cancel() }
    return await waiter.sink.promise.wait { [weak self] in self?.leave(waiter) }
  }

  /// Changes the priority of one waiter, and so that of its job.
  func setPriority(of waiter: Waiter, to priority: Priority) {
    guard let id = state.withLock({ $0.table.setPriority(of: waiter.id, to: priority) }) else { return }
    settlePriority(of: id)
  }

  /// Sets a job's priority from its current waiters, even if some join or leave meanwhile.
  private func settlePriority(of id: JobID) {
    while true {
      let (control, wanted) = state.withLock { ($0.running[id]?.context.priority, $0.table.priority(of: id)) }
      guard let control, let wanted, control.current != wanted else { return }
      control.set(wanted)
    }
  }

  /// Starts a job with the lock held, so that its first access to the table comes after this.
  func start(_ id: JobID, for request: ThumbnailRequest, isRevalidation: Bool = false) -> RunningJob {
    let context = JobContext(
      request.source, policy: stages.policy(for: request.options), priority: PriorityControl(request.priority))
    context.add(request)
    let job = SourceJob(
      context, stages: stages, waiters: JobWaiters(id: id, jobs: self, demand: context.demand),
      isRevalidation: isRevalidation)
    // A job only submits work to our own threads, where the priority applies. Its task has its waiters' priority, as
    // another one would wake other threads at each step.
    return RunningJob(task: Task { await job.run() }, context: context)
  }

  /// Ends a request that has no result yet with an error; the job stops if it has no other waiters.
  func leave(_ waiter: Waiter, with error: ThumbnailError = .cancelled) {
    let variant = waiter.request.variant
    let (sink, stopped, action) = state.withLock { state -> (Sink?, RunningJob?, JobTable<Sink>.LeaveAction) in
      let (sink, action) = state.table.leave(waiter.id)
      switch action {
      case .cancel(let id): return (sink, state.running.removeValue(forKey: id), action)
      case .goOn(let id, _) where !state.table.isWanted(variant, for: id):
        state.running[id]?.context.demand.remove(variant)
      case .goOn, .none: break
      }
      return (sink, nil, action)
    }
    if sink != nil, error != .cancelled {
      stages.monitor.add(1, to: \.failures)
      stages.monitor.send(waiter.request.source, .failed([variant], error))
    }
    if let stopped {
      stopped.task.cancel()
      stages.monitor.send(waiter.request.source, .cancelled)
    }
    if case .goOn(let id, _) = action { settlePriority(of: id) }
    sink?.promise.resume(with: .failure(error))
  }

  /// Removes images from the caches, and keeps running jobs from storing them: `forget` does so in one step with
  /// `detach`, so that a job started later finds nothing and one started earlier stores nothing.
  func remove(_ detach: (inout JobTable<Sink>) -> [JobID], from forget: () -> Void) {
    state.withLock { state in
      for id in detach(&state.table) { state.running[id]?.context.permit.revoke() }
      forget()
    }
  }

  /// Cancels all jobs, or the background revalidations alone. Nobody waits for them any more.
  func cancelAll(onlyRevalidations: Bool = false) {
    let cancelled = state.withLock { state in
      var tasks: [Task<Void, Never>] = []
      for (id, job) in state.running where !onlyRevalidations || state.revalidations.contains(id) {
        tasks.append(job.task)
        _ = state.table.end(id)
        state.remove(id)
      }
      return tasks
    }
    for task in cancelled { task.cancel() }
  }
}
