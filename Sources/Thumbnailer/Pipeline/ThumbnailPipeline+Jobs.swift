import ImageCodec
import ThumbnailCache
import ThumbnailCore

/// Coalescing: how requests join jobs, change their priority and leave.
extension ThumbnailPipeline {
  /// The running jobs and their waiters.
  struct Jobs {
    var table = JobTable<Sink>()
    var running: [JobTable<Sink>.JobID: RunningJob] = [:]
    /// The jobs that are background revalidations.
    var revalidations: [JobTable<Sink>.JobID: JobTable<Sink>.Subject] = [:]

    /// Removes a job that has ended.
    mutating func remove(_ id: JobTable<Sink>.JobID) {
      running[id] = nil
      revalidations[id] = nil
    }
  }

  /// The pipeline's handle of a job.
  struct RunningJob {
    let task: Task<Void, Never>
    let priority: PriorityControl
    let progress: BodyProgress
    /// Permits storing what the job makes, until the image is removed.
    let permit: StorePermit
    /// The variants with waiters, updated together with the table.
    let demand: VariantDemand
  }

  /// Where a waiter's result is delivered.
  struct Sink: Sendable {
    let promise: Promise<ThumbnailResponse, ThumbnailError>
    let started: ContinuousClock.Instant
  }

  typealias Waiter = JobTable<Sink>.WaiterID

  /// Joins all the requests at once, so that a job started for them finds them all in its first round.
  func join(
    _ requests: [ThumbnailRequest], since started: ContinuousClock.Instant
  ) -> [(Waiter, Sink)] {
    guard !requests.isEmpty else { return [] }
    var joined: [(JobTable<Sink>.JobID, Waiter, ThumbnailRequest)] = []
    let waiters = jobs.withLock { state in
      requests.map { request in
        let sink = Sink(promise: Promise(), started: started)
        let (waiter, action) = state.table.join(request, sink: sink)
        switch action {
        case .joined(let id, _):
          state.running[id]?.demand.insert(request.variant)
          joined.append((id, waiter, request))
        case .start(let id): state.running[id] = startJob(id, for: request)
        }
        return (waiter, sink)
      }
    }
    for (id, waiter, request) in joined {
      settlePriority(of: id, for: waiter.subject)
      stages.statistics.add(1, to: \.joins)
      stages.events.send(request.source, .joined(request.variant))
    }
    return waiters
  }

  /// Changes the priority of one waiter, and so that of its job.
  func setPriority(of waiter: Waiter, to priority: Priority) {
    guard let id = jobs.withLock({ $0.table.setPriority(of: waiter, to: priority) }) else { return }
    settlePriority(of: id, for: waiter.subject)
  }

  /// Sets a job's priority from its current waiters, even if some join or leave meanwhile.
  private func settlePriority(of id: JobTable<Sink>.JobID, for subject: JobTable<Sink>.Subject) {
    while true {
      let (control, wanted) = jobs.withLock {
        ($0.running[id]?.priority, $0.table.priority(of: subject, for: id))
      }
      guard let control, let wanted, control.current != wanted else { return }
      control.set(wanted)
    }
  }

  /// Starts a job with the lock held, so that its first access to the table comes after this.
  func startJob(
    _ id: JobTable<Sink>.JobID, for request: ThumbnailRequest, isRevalidation: Bool = false
  ) -> RunningJob {
    let priority = PriorityControl(request.priority)
    let demand = VariantDemand([request.variant])
    let progress = BodyProgress()
    let permit = StorePermit()
    let job = SourceJob(
      source: request.source, priority: priority, progress: progress, permit: permit,
      stages: stages.following(request.options), options: request.options,
      waiters: JobWaiters(
        pipeline: self, id: id,
        subject: .init(request.source, options: request.options, isRevalidation: isRevalidation), demand: demand),
      isRevalidation: isRevalidation)
    // A job only submits work to our own threads, where the priority applies. Its task has its waiters' priority, as
    // another one would wake other threads at each step.
    let task = Task { await job.run() }
    return RunningJob(task: task, priority: priority, progress: progress, permit: permit, demand: demand)
  }

  /// Removes images from the caches, and keeps running jobs from storing them: `forget` does so in one step with
  /// `detach`, so that a job started later finds nothing and one started earlier stores nothing.
  func remove(
    _ detach: (inout JobTable<Sink>) -> [JobTable<Sink>.JobID], from forget: () -> Void
  ) {
    jobs.withLock { state in
      for id in detach(&state.table) { state.running[id]?.permit.revoke() }
      forget()
    }
  }

  /// Waits for the result of a request, until its own deadline if it has one.
  func wait(
    for sink: Sink, _ waiter: Waiter, of request: ThumbnailRequest
  ) async -> Result<ThumbnailResponse, ThumbnailError> {
    let deadline = request.timeout.map { timeout in
      Task { [weak self] in
        do {
          try await Task.sleep(until: sink.started + timeout)
        } catch {
          return
        }
        self?.leave(
          waiter, of: request, with: .timedOut(reason: "not done within the request's timeout of \(timeout.inWords)"))
      }
    }
    defer { deadline?.cancel() }
    return await sink.promise.wait { [weak self] in self?.leave(waiter, of: request) }
  }

  /// Ends a request with an error before it has its result; the job stops if it has no other waiters.
  func leave(_ waiter: Waiter, of request: ThumbnailRequest, with error: ThumbnailError = .cancelled) {
    let source = request.source
    let (sink, stopped, action) = jobs.withLock { state -> (Sink?, RunningJob?, JobTable<Sink>.LeaveAction) in
      let (sink, action) = state.table.leave(waiter)
      switch action {
      case .cancel(let id): return (sink, state.running.removeValue(forKey: id), action)
      case .goOn(let id, _) where !state.table.isWanted(request.variant, of: waiter.subject, for: id):
        state.running[id]?.demand.remove(request.variant)
      case .goOn, .none: break
      }
      return (sink, nil, action)
    }
    if sink != nil, error != .cancelled {
      stages.statistics.add(1, to: \.failures)
      stages.events.send(source, .failed([request.variant], error))
    }
    if let stopped {
      stopped.task.cancel()
      stages.events.send(source, .cancelled)
    }
    if case .goOn(let id, _) = action { settlePriority(of: id, for: waiter.subject) }
    sink?.promise.resume(with: .failure(error))
  }
}
