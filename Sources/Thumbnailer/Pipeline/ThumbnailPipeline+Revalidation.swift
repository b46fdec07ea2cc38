import ImageCodec
import ThumbnailCore

/// Background revalidation of stale thumbnails that were served already (`stale-while-revalidate`).
extension ThumbnailPipeline {
  /// Waits until all stale thumbnails served so far (`stale-while-revalidate`) are revalidated, and changed ones are
  /// made again. Call it before a program ends, then `flush()`: what is not revalidated by then stays stale until the
  /// next request.
  ///
  /// Cancelling the calling task cancels the rest.
  public func finishRevalidations() async {
    await withTaskCancellationHandler {
      while let task = firstRevalidation {
        await task.value
      }
    } onCancel: {
      dropRevalidations()
    }
  }

  private var firstRevalidation: Task<Void, Never>? {
    jobs.withLock { state in state.revalidations.keys.first.flatMap { state.running[$0]?.task } }
  }

  private func dropRevalidations() {
    let dropped = jobs.withLock { state in
      var dropped: [RunningJob] = []
      for (id, subject) in state.revalidations {
        _ = state.table.end(subject, for: id)
        if let job = state.running[id] { dropped.append(job) }
        state.remove(id)
      }
      return dropped
    }
    for job in dropped { job.task.cancel() }
  }

  /// Starts a job that revalidates a stored thumbnail, or adds it to the running one. False if too many are running.
  func revalidateBehind(
    _ variant: Variant, of source: ImageSource, options: RequestOptions, keepsInMemory: Bool
  ) -> Bool {
    var request = ThumbnailRequest(source, variant: variant, priority: .prefetch)
    request.keepsInMemory = keepsInMemory
    request.options = options
    let subject = JobTable<Sink>.Subject(source, options: options, isRevalidation: true)
    return jobs.withLock { state in
      let running = state.table.job(of: subject)
      if let running, state.table.isWanted(variant, of: subject, for: running) { return true }
      guard running != nil || state.revalidations.count < configuration.mostRevalidations else { return false }
      // A sink without a waiter.
      let sink = Sink(promise: Promise(), started: .now)
      switch state.table.join(request, isRevalidation: true, sink: sink).1 {
      case .joined(let id, _): state.running[id]?.demand.insert(variant)
      case .start(let id):
        state.running[id] = startJob(id, for: request, isRevalidation: true)
        state.revalidations[id] = subject
      }
      return true
    }
  }
}
