import ImageCodec
import ThumbnailCore

extension ThumbnailPipeline {
  /// What a job sees of the pipeline: the waiters for its source, and nothing else.
  ///
  /// Holds the pipeline weakly: a pipeline that is dropped cancels its jobs, which then find no waiters.
  struct JobWaiters: Sendable {
    private let pipeline: @Sendable () -> ThumbnailPipeline?
    private let id: JobTable<Sink>.JobID
    private let subject: JobTable<Sink>.Subject
    /// The variants that are waited for, at any moment and for any thread.
    let demand: VariantDemand

    init(
      pipeline: ThumbnailPipeline, id: JobTable<Sink>.JobID, subject: JobTable<Sink>.Subject, demand: VariantDemand
    ) {
      self.pipeline = { [weak pipeline] in pipeline }
      self.id = id
      self.subject = subject
      self.demand = demand
    }

    /// The variants that came in since the last call, the largest first.
    func takeVariants(of source: ImageSource) -> [Variant] {
      pipeline()?.jobs.withLock { $0.table.takeVariants(of: subject, for: id) } ?? []
    }

    /// Those of the variants that somebody still waits for.
    func stillWanted(_ variants: [Variant], of source: ImageSource) -> [Variant] {
      pipeline()?.jobs.withLock { $0.table.stillWanted(variants, of: subject, for: id) } ?? []
    }

    /// Those of the variants that go to the memory cache, and not to the disk cache alone.
    func keptInMemory(_ variants: [Variant], of source: ImageSource) -> Set<Variant> {
      pipeline()?.jobs.withLock { state in
        Set(variants.filter { state.table.keepsInMemory($0, of: subject, for: id) })
      } ?? []
    }

    /// Answers everybody who waits for one variant.
    ///
    /// - Parameter counting: Called with their number before they hear of it, so that whoever is answered finds it counted.
    func answer(
      _ variant: Variant, of source: ImageSource, with result: Result<ThumbnailResponse, ThumbnailError>,
      counting: (Int) -> Void = { _ in }
    ) {
      let sinks =
        pipeline()?.jobs.withLock { state -> [Sink] in
          demand.remove(variant)
          let sinks = state.table.finish(variant, of: subject, for: id)
          if !state.table.isRunning(id, of: subject) { state.remove(id) }
          return sinks
        } ?? []
      counting(sinks.count)
      Self.resume(sinks, with: result)
    }

    /// Ends the job and answers everybody who still waits for the source: with the error, except for some variants.
    ///
    /// All in one step: whoever is answered and asks again at once is not taken for one who waited for the job.
    ///
    /// - Parameter counting: Called with the variants that the error concerns, one for each waiter, before anybody hears of
    ///   it, so that whoever is answered finds it counted.
    func fail(
      _ source: ImageSource, with error: ThumbnailError, except answers: [Variant: ThumbnailResponse] = [:],
      counting: ([Variant]) -> Void
    ) {
      let ended =
        pipeline()?.jobs.withLock { state -> [(variant: Variant, sink: Sink)] in
          state.remove(id)
          return state.table.end(subject, for: id)
        } ?? []
      counting(ended.map(\.variant).filter { answers[$0] == nil })
      for (variant, sink) in ended {
        Self.resume([sink], with: answers[variant].map { .success($0) } ?? .failure(error))
      }
    }

    /// Has a thumbnail asked about that is handed out though it is out of date. False when too many are asked about already:
    /// then whoever wants it waits for the server.
    func revalidateBehind(_ variant: Variant, of source: ImageSource, keepsInMemory: Bool) -> Bool {
      pipeline()?.revalidateBehind(variant, of: source, keepsInMemory: keepsInMemory) ?? false
    }

    /// Whether nobody waits any more: the job has ended with its last answer.
    func isDone(_ source: ImageSource) -> Bool {
      pipeline()?.jobs.withLock { !$0.table.isRunning(id, of: subject) } ?? true
    }

    private static func resume(_ sinks: [Sink], with result: Result<ThumbnailResponse, ThumbnailError>) {
      let now = ContinuousClock.now
      for sink in sinks {
        sink.shot.resume(
          with: result.map {
            ThumbnailResponse(
              thumbnail: $0.thumbnail, origin: $0.origin, downloadedBytes: $0.downloadedBytes,
              bytesLeft: $0.bytesLeft, isStored: $0.isStored, plan: $0.plan, duration: now - sink.started)
          })
      }
    }
  }
}
