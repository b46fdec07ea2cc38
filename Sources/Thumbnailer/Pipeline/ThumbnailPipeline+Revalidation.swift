import ImageCodec
import ThumbnailCore

/// How servers are asked about thumbnails that were handed out meanwhile (`stale-while-revalidate`).
extension ThumbnailPipeline {
  /// How many images are asked about at most, behind those who were served; each takes a few KiB. What goes beyond waits for
  /// its server, as it would without.
  static let mostRevalidations = 256

  /// Waits until the servers have been asked about everything that was handed out meanwhile, since they allow that
  /// (`stale-while-revalidate`), and what has changed is made anew. Call it before a program ends, then `flush()`: what is
  /// not asked about by then stays out of date until it is asked for again.
  ///
  /// Cancelling the calling task drops what is left.
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

  /// Starts a job that asks the server about a stored thumbnail, or has the one that runs do so. False when too many run.
  func revalidateBehind(_ variant: Variant, of source: ImageSource, keepsInMemory: Bool) -> Bool {
    var request = ThumbnailRequest(source, variant: variant, priority: .prefetch)
    request.keepsInMemory = keepsInMemory
    let subject = JobTable<Sink>.Subject(source, isRevalidation: true)
    return jobs.withLock { state in
      let running = state.table.job(of: subject)
      if let running, state.table.isWanted(variant, of: subject, for: running) { return true }
      guard running != nil || state.revalidations.count < Self.mostRevalidations else { return false }
      // Nobody waits for what comes of it.
      let sink = Sink(shot: Promise(), started: .now)
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
