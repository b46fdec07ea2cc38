import ThumbnailCore

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
    state.withLock { state in state.revalidations.first.flatMap { state.running[$0]?.task } }
  }

  /// Starts a job that revalidates a stored thumbnail, or adds it to the running one. False if too many are running:
  /// then the waiter waits for the server.
  func revalidateBehind(_ variant: Variant, for job: JobContext, keepsInMemory: Bool) -> Bool {
    var request = ThumbnailRequest(job.source, variant: variant, priority: .prefetch)
    request.options = job.policy.options
    request.keepsInMemory = keepsInMemory
    request.makesMicroThumbnail = job.makesMicroThumbnails
    return state.withLock { state in
      let running = state.table.job(
        of: .init(job.source, options: job.policy.options, isRevalidation: true))
      if let running, state.table.isWanted(variant, for: running) { return true }
      guard running != nil || state.revalidations.count < stages.configuration.mostRevalidations else { return false }
      // A sink without a waiter.
      let sink = Sink(promise: Promise(), started: .now)
      switch state.table.join(request, isRevalidation: true, sink: sink).1 {
      case .joined(let id, _): state.running[id]?.context.add(request)
      case .start(let id):
        state.running[id] = start(id, for: request, isRevalidation: true)
        state.revalidations.insert(id)
      }
      return true
    }
  }
}
