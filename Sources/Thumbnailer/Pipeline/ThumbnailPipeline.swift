public import Foundation
import Synchronization

/// Makes thumbnails: from its caches where they are there, else by downloading and downsampling the picture once for
/// everybody who asks.
///
/// May be used from any thread or task. Work stops when the pipeline is dropped, after `flush()` everything made is on
/// disk.
///
///     let pipeline = try ThumbnailPipeline()
///     let thumbnail = try await pipeline.thumbnail(for: ThumbnailRequest(url, size: PixelSize(400, 400)))
public final class ThumbnailPipeline: Sendable {
  /// How the pipeline was set up.
  public let configuration: Configuration

  private let stages: PipelineStages
  private let state = Mutex(State())

  private struct State {
    var table = JobTable<Sink>()
    var running: [JobTable<Sink>.JobID: RunningJob] = [:]
  }

  private struct RunningJob {
    let task: Task<Void, Never>
    let priority: PriorityControl
    let progress: BodyProgress
    /// What its waiters ask for, changed along with the table.
    let demand: VariantDemand
  }

  /// Where a waiter's answer goes.
  struct Sink: Sendable {
    let shot: OneShot<ThumbnailResponse, ThumbnailError>
    let started: ContinuousClock.Instant
  }

  /// Sets up the stages. Starts no thread and reads no picture yet; opens the disk cache, which takes a millisecond, or
  /// seconds where another process is just making or moving it.
  ///
  /// A disk cache that cannot be used does not fail: the pipeline works from memory alone, and `cacheProblem` says why.
  ///
  /// - Throws: `ThumbnailError.invalidRequest` for values that make no sense, with the value's name.
  public init(_ configuration: Configuration = Configuration()) throws(ThumbnailError) {
    if let problem = configuration.problem { throw .invalidRequest(reason: problem) }
    self.configuration = configuration
    stages = PipelineStages(configuration)
  }

  deinit {
    state.withLock { state in
      for job in state.running.values { job.task.cancel() }
    }
    stages.events.finish()
  }

  /// The thumbnail that was asked for.
  ///
  /// Cancelling the calling task gives the request up; the work stops when nobody else waits for it.
  public func thumbnail(for request: ThumbnailRequest) async throws(ThumbnailError) -> Thumbnail {
    try await response(for: request).thumbnail
  }

  /// The thumbnail that was asked for, and how it came about.
  public func response(for request: ThumbnailRequest) async throws(ThumbnailError) -> ThumbnailResponse {
    try await responses(for: [request])[0].get()
  }

  /// The thumbnail that was asked for, at a priority that may change while it is waited for: the request's own counts for
  /// nothing.
  func response(
    for request: ThumbnailRequest, following priority: PriorityControl
  ) async throws(ThumbnailError) -> ThumbnailResponse {
    let started = ContinuousClock.now
    if let answer = fromMemory(request, since: started) { return try answer.get() }
    let request = request.with(priority.current)
    let (waiter, sink) = join([request], since: started)[0]
    let observation = priority.observe { [weak self] in self?.setPriority(of: waiter, for: request.source, to: $0) }
    defer { priority.stopObserving(observation) }
    return try await sink.shot.wait { [weak self] in self?.leave(waiter, of: request) }.get()
  }

  /// The part of a picture's bytes that has arrived, from 0 to 1, while a job works on it: 1 when all is here that is
  /// needed, nil when no job does.
  func receivedPart(of source: ImageSource) -> Double? {
    state.withLock { state in
      state.table.job(of: .init(source)).flatMap { state.running[$0]?.progress.fraction }
    }
  }

  /// Several thumbnails of one picture, each with its own success or failure, in the order of `variants`.
  ///
  /// They share one download and one decode.
  public func responses(
    for source: ImageSource, variants: [Variant], priority: Priority = .visible
  ) async -> [Result<ThumbnailResponse, ThumbnailError>] {
    await responses(for: variants.map { ThumbnailRequest(source, variant: $0, priority: priority) })
  }

  /// Answers what memory holds at once and waits for the rest. All requests are of one source.
  private func responses(for requests: [ThumbnailRequest]) async -> [Result<ThumbnailResponse, ThumbnailError>] {
    let started = ContinuousClock.now
    var results = requests.map { fromMemory($0, since: started) }
    let open = results.indices.filter { results[$0] == nil }
    let waiters = join(open.map { requests[$0] }, since: started)
    for (index, (waiter, sink)) in zip(open, waiters) {
      results[index] = await sink.shot.wait { [weak self] in
        self?.leave(waiter, of: requests[index])
      }
    }
    return results.map { $0 ?? .failure(.cancelled) }
  }

  /// The answer to a request that needs no work: from memory, or that it cannot be met.
  private func fromMemory(
    _ request: ThumbnailRequest, since started: ContinuousClock.Instant
  ) -> Result<ThumbnailResponse, ThumbnailError>? {
    if let hit = cachedThumbnail(for: request.key) {
      stages.statistics.add(1, to: \.memoryHits)
      stages.events.send(request.source, .memoryHit(request.variant))
      return .success(ThumbnailResponse(thumbnail: hit, origin: .memory, duration: .now - started))
    }
    if let problem = request.variant.problem {
      stages.statistics.add(1, to: \.failures)
      return .failure(.invalidRequest(reason: problem))
    }
    return Task.isCancelled ? .failure(.cancelled) : nil
  }

  /// The thumbnail if it is in the memory cache. Returns at once, on any thread, within a microsecond.
  public func cachedThumbnail(for key: CacheKey) -> Thumbnail? {
    stages.cache.memoryThumbnail(for: key)
  }

  /// The thumbnails of many requests, each with its own success or failure, in the order of completion.
  ///
  /// Requests are taken from the sequence as results are taken from the stream, so neither needs to fit in memory: at
  /// most `window` requests are under way or finished and not taken yet. Dropping the iterator cancels what is under
  /// way.
  ///
  /// - Parameter window: Default: four for each download and each decode at once.
  public func thumbnails<Requests: Sequence>(
    for requests: Requests, window: Int? = nil
  ) -> ThumbnailResults where Requests.Element == ThumbnailRequest, Requests: Sendable {
    ThumbnailResults(
      pipeline: self, requests: requests,
      window: window ?? 4 * (configuration.downloads + configuration.jobs))
  }

  /// A stream of what happens from now on, stage by stage. A listener that falls behind by more than `limit` events
  /// loses the oldest; nothing waits for it. Each listener gets all events. The stream ends with the pipeline.
  public func events(bufferingNewest limit: Int = 4096) -> AsyncStream<PipelineEvent> {
    stages.events.subscribe(bufferingNewest: limit)
  }

  /// What has been done so far.
  public var statistics: PipelineStatistics { stages.currentStatistics }

  /// The number of sources that are being worked on now.
  public var activeJobs: Int { state.withLock { $0.table.jobCount } }

  /// The number of downloads that wait for a slot now.
  public var waitingDownloads: Int { stages.waitingDownloads }

  /// Fetches the small answers of photo search APIs, over the connections that the pictures use.
  var httpClient: any HTTPClient { stages.httpClient }

  /// Where the pages of photo searches are kept beside the thumbnails, for times without a network; nil without a disk
  /// cache.
  public var pageStore: (any PageStore)? { stages.cache.disk == nil ? nil : stages.cache }

  /// The last reason why something that was made could not be stored on disk, in words that say what to do; nil when
  /// all could.
  public var cacheProblem: String? { stages.cacheProblem }

  /// Why the file of the disk cache was replaced by an empty one, such as damage; nil when it was not. Thumbnails are
  /// stored as usual from then on.
  public var cacheReplacement: String? { stages.cacheReplacement }

  /// Forgets all thumbnails of a picture, in memory and on disk: the next request fetches it anew.
  public func remove(_ source: ImageSource) async {
    await stages.cache.remove(source.key)
  }

  /// Forgets all thumbnails, in memory and on disk, and the beginnings of broken downloads.
  public func removeAll() async {
    await stages.cache.removeAll()
    Self.removePartialDownloads(in: configuration.cacheDirectory)
  }

  /// Throws away the beginnings of broken downloads that a cache folder holds. Those that somebody goes on with now
  /// stay. Blocks for a few file operations.
  public static func removePartialDownloads(in cacheDirectory: URL) {
    PartialStore(directory: Configuration.partialDownloads(in: cacheDirectory), byteLimit: 0).removeAll()
  }

  /// What the beginnings of broken downloads in a cache folder take, in bytes. Blocks for a few file operations.
  public static func partialDownloadBytes(in cacheDirectory: URL) -> Int {
    PartialStore(directory: Configuration.partialDownloads(in: cacheDirectory), byteLimit: 0).usedBytes
  }

  /// Waits until everything made so far is on disk.
  public func flush() async {
    await stages.flush()
  }

  private typealias Waiter = JobTable<Sink>.WaiterID

  /// Joins all the requests at once, so that a job that starts for them finds them all at its first look.
  private func join(
    _ requests: [ThumbnailRequest], since started: ContinuousClock.Instant
  ) -> [(Waiter, Sink)] {
    guard !requests.isEmpty else { return [] }
    var joined: [(JobTable<Sink>.JobID, ThumbnailRequest)] = []
    let waiters = state.withLock { state in
      requests.map { request in
        let sink = Sink(shot: OneShot(), started: started)
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

  private func setPriority(of waiter: Waiter, for source: ImageSource, to priority: Priority) {
    guard let id = state.withLock({ $0.table.setPriority(of: waiter, to: priority) }) else { return }
    settlePriority(of: id, for: source)
  }

  /// Gives a job the priority of its waiters as they are now, whoever joins and leaves meanwhile.
  private func settlePriority(of id: JobTable<Sink>.JobID, for source: ImageSource) {
    while true {
      let (control, wanted) = state.withLock {
        ($0.running[id]?.priority, $0.table.priority(of: .init(source), for: id))
      }
      guard let control, let wanted, control.current != wanted else { return }
      control.set(wanted)
    }
  }

  /// Starts a job, with the lock held: the job's first look into the table waits for it.
  private func startJob(_ id: JobTable<Sink>.JobID, for request: ThumbnailRequest) -> RunningJob {
    let priority = PriorityControl(request.priority)
    let demand = VariantDemand([request.variant])
    let progress = BodyProgress()
    let job = SourceJob(
      source: request.source, priority: priority, progress: progress, stages: stages,
      desk: Desk(pipeline: self, id: id, demand: demand))
    // A job only hands work on to threads of our own, where the priority counts. Its task runs among those that wait for
    // it: on another level it would wake other threads at every turn.
    let task = Task { await job.run() }
    return RunningJob(task: task, priority: priority, progress: progress, demand: demand)
  }

  private func leave(_ waiter: JobTable<Sink>.WaiterID, of request: ThumbnailRequest) {
    let source = request.source
    let (sink, stopped, action) = state.withLock { state -> (Sink?, RunningJob?, JobTable<Sink>.LeaveAction) in
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

extension ThumbnailPipeline {
  /// What a job sees of the pipeline: the waiters for its source, and nothing else.
  ///
  /// Holds the pipeline weakly: a pipeline that is dropped cancels its jobs, which then find no waiters.
  struct Desk: Sendable {
    private let pipeline: @Sendable () -> ThumbnailPipeline?
    private let id: JobTable<Sink>.JobID
    /// The variants that are waited for, at any moment and for any thread.
    let demand: VariantDemand

    fileprivate init(pipeline: ThumbnailPipeline, id: JobTable<Sink>.JobID, demand: VariantDemand) {
      self.pipeline = { [weak pipeline] in pipeline }
      self.id = id
      self.demand = demand
    }

    /// The variants that came in since the last call, the largest first.
    func takeVariants(of source: ImageSource) -> [Variant] {
      pipeline()?.state.withLock { $0.table.takeVariants(of: .init(source), for: id) } ?? []
    }

    /// Those of the variants that somebody still waits for.
    func stillWanted(_ variants: [Variant], of source: ImageSource) -> [Variant] {
      pipeline()?.state.withLock { $0.table.stillWanted(variants, of: .init(source), for: id) } ?? []
    }

    /// Those of the variants that go to the memory cache, and not to the disk cache alone.
    func keptInMemory(_ variants: [Variant], of source: ImageSource) -> Set<Variant> {
      pipeline()?.state.withLock { state in
        Set(variants.filter { state.table.keepsInMemory($0, of: .init(source), for: id) })
      } ?? []
    }

    /// Answers everybody who waits for one variant.
    func answer(
      _ variant: Variant, of source: ImageSource, with result: Result<ThumbnailResponse, ThumbnailError>
    ) -> Int {
      let sinks =
        pipeline()?.state.withLock { state -> [Sink] in
          demand.remove(variant)
          return state.table.finish(variant, of: .init(source), for: id)
        } ?? []
      Self.resume(sinks, with: result)
      return sinks.count
    }

    /// Ends the job and answers everybody who still waits for the source: with the error, except for some variants.
    /// Tells which variants the error concerned.
    ///
    /// All in one step: whoever is answered and asks again at once is not taken for one who waited for the job.
    func fail(
      _ source: ImageSource, with error: ThumbnailError, except answers: [Variant: ThumbnailResponse] = [:]
    ) -> [Variant] {
      let ended =
        pipeline()?.state.withLock { state -> [(variant: Variant, sink: Sink)] in
          state.running[id] = nil
          return state.table.end(.init(source), for: id)
        } ?? []
      for (variant, sink) in ended {
        Self.resume([sink], with: answers[variant].map { .success($0) } ?? .failure(error))
      }
      return ended.map(\.variant).filter { answers[$0] == nil }
    }

    /// Ends the job if nobody waits any more. False when it must go on.
    func endIfIdle(_ source: ImageSource) -> Bool {
      pipeline()?.state.withLock { state in
        guard state.table.endIfIdle(.init(source), for: id) else { return false }
        state.running[id] = nil
        return true
      } ?? true
    }

    private static func resume(_ sinks: [Sink], with result: Result<ThumbnailResponse, ThumbnailError>) {
      let now = ContinuousClock.now
      for sink in sinks {
        sink.shot.resume(
          with: result.map {
            ThumbnailResponse(
              thumbnail: $0.thumbnail, origin: $0.origin, downloadedBytes: $0.downloadedBytes,
              bytesLeft: $0.bytesLeft, plan: $0.plan, duration: now - sink.started)
          })
      }
    }
  }
}

extension ThumbnailRequest {
  /// The same request at another priority.
  fileprivate func with(_ priority: Priority) -> ThumbnailRequest {
    var copy = self
    copy.priority = priority
    return copy
  }
}

extension Variant {
  /// What is wrong with the variant, in words that say what to do; nil when it can be made.
  var problem: String? {
    if !size.isValidThumbnailSize {
      return
        "a thumbnail of \(size) cannot be made: each side must be from 1 to \(PixelSize.longestThumbnailSide) pixels"
    }
    if !(1...100).contains(quality) { return "quality \(quality) cannot be used: it must be from 1 to 100" }
    if let effort, !(0...9).contains(effort) { return "effort \(effort) cannot be used: it must be from 0 to 9" }
    return nil
  }
}
