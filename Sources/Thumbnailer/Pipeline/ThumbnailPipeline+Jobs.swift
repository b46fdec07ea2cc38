import ImageCodec
import ThumbnailCache
import ThumbnailCore

/// Who waits for what: how requests join jobs, change their priority and leave.
extension ThumbnailPipeline {
  /// The jobs that run, and who waits for them.
  struct Jobs {
    var table = JobTable<Sink>()
    var running: [JobTable<Sink>.JobID: RunningJob] = [:]
    /// Those of them that ask about what was handed out meanwhile.
    var revalidations: [JobTable<Sink>.JobID: JobTable<Sink>.Subject] = [:]

    /// Lets go of a job that has ended.
    mutating func remove(_ id: JobTable<Sink>.JobID) {
      running[id] = nil
      revalidations[id] = nil
    }
  }

  /// What the pipeline holds of a job.
  struct RunningJob {
    let task: Task<Void, Never>
    let priority: PriorityControl
    let progress: BodyProgress
    /// Its leave to store what it makes.
    let permit: StorePermit
    /// What its waiters ask for, changed along with the table.
    let demand: VariantDemand
  }

  /// Where a waiter's answer goes.
  struct Sink: Sendable {
    let shot: Promise<ThumbnailResponse, ThumbnailError>
    let started: ContinuousClock.Instant
  }

  typealias Waiter = JobTable<Sink>.WaiterID

  /// Joins all the requests at once, so that a job that starts for them finds them all at its first look.
  func join(
    _ requests: [ThumbnailRequest], since started: ContinuousClock.Instant
  ) -> [(Waiter, Sink)] {
    guard !requests.isEmpty else { return [] }
    var joined: [(JobTable<Sink>.JobID, ThumbnailRequest)] = []
    let waiters = jobs.withLock { state in
      requests.map { request in
        let sink = Sink(shot: Promise(), started: started)
        let (waiter, action) = state.table.join(request, sink: sink)
        switch action {
        case .joined(let id, _):
          state.running[id]?.demand.insert(request.variant)
          joined.append((id, request))
        case .start(let id): state.running[id] = startJob(id, for: request)
        }
        return (waiter, sink)
      }
    }
    for (id, request) in joined {
      settlePriority(of: id, for: request.source)
      stages.statistics.add(1, to: \.joins)
      stages.events.send(request.source, .joined(request.variant))
    }
    return waiters
  }

  /// Changes the priority of one waiter, which the job's follows from.
  func setPriority(of waiter: Waiter, for source: ImageSource, to priority: Priority) {
    guard let id = jobs.withLock({ $0.table.setPriority(of: waiter, to: priority) }) else { return }
    settlePriority(of: id, for: source)
  }

  /// Gives a job the priority of its waiters as they are now, whoever joins and leaves meanwhile.
  private func settlePriority(of id: JobTable<Sink>.JobID, for source: ImageSource) {
    while true {
      let (control, wanted) = jobs.withLock {
        ($0.running[id]?.priority, $0.table.priority(of: .init(source), for: id))
      }
      guard let control, let wanted, control.current != wanted else { return }
      control.set(wanted)
    }
  }

  /// Starts a job, with the lock held: the job's first look into the table waits for it.
  func startJob(
    _ id: JobTable<Sink>.JobID, for request: ThumbnailRequest, isRevalidation: Bool = false
  ) -> RunningJob {
    let priority = PriorityControl(request.priority)
    let demand = VariantDemand([request.variant])
    let progress = BodyProgress()
    let permit = StorePermit()
    let job = SourceJob(
      source: request.source, priority: priority, progress: progress, permit: permit, stages: stages,
      waiters: JobWaiters(
        pipeline: self, id: id, subject: .init(request.source, isRevalidation: isRevalidation), demand: demand),
      isRevalidation: isRevalidation)
    // A job only hands work on to threads of our own, where the priority counts. Its task runs among those that wait for
    // it: on another level it would wake other threads at every turn.
    let task = Task { await job.run() }
    return RunningJob(task: task, priority: priority, progress: progress, permit: permit, demand: demand)
  }

  /// Takes what is removed out of the caches, and has nothing of it stored by the jobs that run: `forget` does it, in one
  /// step with `detach`, so that a job that begins meanwhile finds nothing and one that began before stores nothing.
  func remove(
    _ detach: (inout JobTable<Sink>) -> [JobTable<Sink>.JobID], from forget: () -> Void
  ) {
    jobs.withLock { state in
      for id in detach(&state.table) { state.running[id]?.permit.revoke() }
      forget()
    }
  }

  /// Gives a request up; the job stops when nobody else waits for it.
  func leave(_ waiter: JobTable<Sink>.WaiterID, of request: ThumbnailRequest) {
    let source = request.source
    let (sink, stopped, action) = jobs.withLock { state -> (Sink?, RunningJob?, JobTable<Sink>.LeaveAction) in
      let (sink, action) = state.table.leave(waiter)
      switch action {
      case .cancel(let id): return (sink, state.running.removeValue(forKey: id), action)
      case .goOn(let id, _) where !state.table.isWanted(request.variant, of: .init(source), for: id):
        state.running[id]?.demand.remove(request.variant)
      case .goOn, .none: break
      }
      return (sink, nil, action)
    }
    if let stopped {
      stopped.task.cancel()
      stages.events.send(source, .cancelled)
    }
    if case .goOn(let id, _) = action { settlePriority(of: id, for: source) }
    sink?.shot.resume(with: .failure(.cancelled))
  }
}
