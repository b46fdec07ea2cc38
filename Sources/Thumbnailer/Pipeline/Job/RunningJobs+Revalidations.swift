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
    table.withLock { table in table.revalidations.first.flatMap { table.work[$0]?.task } }
  }

  /// Starts a job that revalidates a stored thumbnail, or adds it to the running one. False if too many are running:
  /// then the waiter waits for the server.
  func revalidateBehind(_ variant: Variant, for job: JobContext, keepsInMemory: Bool) -> Bool {
    var request = ThumbnailRequest(job.source, variant: variant, priority: .prefetch)
    request.options = job.policy.options
    request.keepsInMemory = keepsInMemory
    request.makesMicroThumbnail = job.makesMicroThumbnails
    return table.withLock { table in
      let running = table.job(of: .init(job.source, options: job.policy.options, isRevalidation: true))
      if let running, table.isWanted(variant, for: running) { return true }
      guard running != nil || table.revalidations.count < stages.configuration.mostRevalidations else { return false }
      // A sink without a waiter.
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
