import ImageCodec
import ThumbnailCore

extension ThumbnailPipeline {
  /// A job's access to the pipeline, limited to the waiters for its source.
  ///
  /// Holds the pipeline weakly: deallocating the pipeline cancels its jobs, which then have no waiters.
  struct JobWaiters: Sendable {
    private let pipeline: @Sendable () -> ThumbnailPipeline?
    private let id: JobTable<Sink>.JobID
    private let subject: JobTable<Sink>.Subject
    /// The variants with waiters, readable at any time from any thread.
    let demand: VariantDemand

    init(
      pipeline: ThumbnailPipeline, id: JobTable<Sink>.JobID, subject: JobTable<Sink>.Subject, demand: VariantDemand
    ) {
      self.pipeline = { [weak pipeline] in pipeline }
      self.id = id
      self.subject = subject
      self.demand = demand
    }

    /// Takes the variants requested since the last call, the largest first.
    func takeVariants() -> [Variant] {
      pipeline()?.jobs.withLock { $0.table.takeVariants(of: subject, for: id) } ?? []
    }

    /// The variants that still have waiters.
    func stillWanted(_ variants: [Variant]) -> [Variant] {
      pipeline()?.jobs.withLock { $0.table.stillWanted(variants, of: subject, for: id) } ?? []
    }

    /// The variants that go to the memory cache, and not to the disk cache alone.
    func keptInMemory(_ variants: [Variant]) -> Set<Variant> {
      pipeline()?.jobs.withLock { state in
        Set(variants.filter { state.table.keepsInMemory($0, of: subject, for: id) })
      } ?? []
    }

    /// Resumes all waiters for one variant.
    ///
    /// - Parameter counting: Called with their number before they are resumed, so that they find themselves counted.
    func resume(
      _ variant: Variant, with result: Result<ThumbnailResponse, ThumbnailError>,
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
      let ended =
        pipeline()?.jobs.withLock { state -> [(variant: Variant, sink: Sink)] in
          state.remove(id)
          return state.table.end(subject, for: id)
        } ?? []
      counting(ended.map(\.variant).filter { responses[$0] == nil })
      for (variant, sink) in ended {
        Self.resume([sink], with: responses[variant].map { .success($0) } ?? .failure(error))
      }
    }

    /// Starts a background revalidation of a stale thumbnail. False if too many are running: then the waiter waits for
    /// the server.
    func revalidateBehind(
      _ variant: Variant, of source: ImageSource, options: RequestOptions, keepsInMemory: Bool
    ) -> Bool {
      pipeline()?.revalidateBehind(variant, of: source, options: options, keepsInMemory: keepsInMemory) ?? false
    }

    /// Whether the job has ended: it did so with its last waiter.
    var isDone: Bool {
      pipeline()?.jobs.withLock { !$0.table.isRunning(id, of: subject) } ?? true
    }

    private static func resume(_ sinks: [Sink], with result: Result<ThumbnailResponse, ThumbnailError>) {
      let now = ContinuousClock.now
      for sink in sinks {
        sink.promise.resume(
          with: result.map {
            ThumbnailResponse(
              thumbnail: $0.thumbnail, origin: $0.origin, downloadedBytes: $0.downloadedBytes,
              bytesLeft: $0.bytesLeft, isStored: $0.isStored, plan: $0.plan, duration: now - sink.started)
          })
      }
    }
  }
}
