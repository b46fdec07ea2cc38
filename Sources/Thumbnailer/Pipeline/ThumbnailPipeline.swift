public import Foundation
package import HTTPTransport
import Synchronization
import ThumbnailCache
public import ThumbnailCore

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

  let stages: PipelineStages
  /// The jobs that run, and who waits for them.
  let jobs = Mutex(Jobs())

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
    jobs.withLock { state in
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
    jobs.withLock { state in
      state.table.job(of: .init(source)).flatMap { state.running[$0]?.progress.fraction }
    }
  }

  /// Whether the job that works on a picture waits for a silent server; nil when there is no job.
  private func silence(of source: ImageSource) -> ObservedValue<ServerSilence>? {
    jobs.withLock { state in
      state.table.job(of: .init(source)).flatMap { state.running[$0]?.progress.silence }
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

  /// The same, telling when the picture begins to wait for a server that has fallen silent, and when it goes on. The
  /// first call may be to say that it does not wait.
  package func responses(
    for source: ImageSource, variants: [Variant], priority: Priority,
    onSilence: @escaping @Sendable (ServerSilence) -> Void
  ) async -> [Result<ThumbnailResponse, ThumbnailError>] {
    await responses(
      for: variants.map { ThumbnailRequest(source, variant: $0, priority: priority) }, onSilence: onSilence)
  }

  /// Answers what memory holds at once and waits for the rest. All requests are of one source.
  func responses(
    for requests: [ThumbnailRequest], onSilence: (@Sendable (ServerSilence) -> Void)? = nil
  ) async -> [Result<ThumbnailResponse, ThumbnailError>] {
    let started = ContinuousClock.now
    var results = requests.map { fromMemory($0, since: started) }
    let open = results.indices.filter { results[$0] == nil }
    let waiters = join(open.map { requests[$0] }, since: started)
    let silence = open.isEmpty || onSilence == nil ? nil : silence(of: requests[0].source)
    let observation = onSilence.flatMap { silence?.observe($0) }
    defer { if let observation { silence?.stopObserving(observation) } }
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
      let error = ThumbnailError.invalidRequest(reason: problem)
      stages.statistics.add(1, to: \.failures)
      stages.events.send(request.source, .failed([request.variant], error))
      return .failure(error)
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
  /// most `window` requests are under way or finished and not taken yet. Those that wait for a server that has fallen
  /// silent are not counted, up to 256 of them. Dropping the iterator cancels what is under way.
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
  public var activeJobs: Int { jobs.withLock { $0.table.jobCount } }

  /// The number of downloads that wait for a slot now.
  public var waitingDownloads: Int { stages.waitingDownloads }

  /// The number of downloads whose server has fallen silent, by its host, with the port where that is not the usual one.
  /// They hold nothing else back, and are tried again after the others.
  public var silentDownloads: [String: Int] { stages.silentDownloads }

  /// Fetches the small answers of photo search APIs, over the connections that the pictures use.
  package var httpClient: any HTTPClient { stages.httpClient }

  /// Where the pages of photo searches are kept beside the thumbnails, for times without a network; nil without a disk
  /// cache.
  public var pageStore: (any PageStore)? { stages.cache.disk == nil ? nil : stages.cache }

  /// The last reason why something that was made could not be stored on disk, in words that say what to do; nil when
  /// all could.
  public var cacheProblem: String? { stages.cacheProblem }

  /// Why the file of the disk cache was replaced by an empty one, such as damage; nil when it was not. Thumbnails are
  /// stored as usual from then on.
  public var cacheReplacement: String? { stages.cacheReplacement }

  /// That the cache's folder is open to other users of the machine, and what to do about it; nil when it is not, as where
  /// the pipeline has made it.
  public var cacheExposure: String? { stages.cacheExposure }

  /// Forgets all thumbnails of a picture, in memory and on disk: the next request fetches it anew. Who waits for one now
  /// gets it, but it is not stored.
  public func remove(_ source: ImageSource) async {
    remove({ $0.detach(source.key) }, from: { stages.cache.forget(source.key) })
    await stages.flush()
  }

  /// Forgets all thumbnails, in memory and on disk, and the beginnings of broken downloads. Who waits for a thumbnail now
  /// gets it, but it is not stored.
  public func removeAll() async {
    remove({ $0.detachAll() }, from: { stages.cache.forgetAll() })
    await stages.flush()
    let directory = configuration.cacheDirectory
    await PartialStore.onThread { Self.removePartialDownloads(in: directory) }
    Self.removeHostRecords(in: directory)
  }

  /// Forgets which hosts want to be left alone, as a cache folder knows it. Blocks for a file operation.
  public static func removeHostRecords(in cacheDirectory: URL) {
    HostFile.remove(in: cacheDirectory)
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
}

extension ThumbnailRequest {
  /// The same request at another priority.
  fileprivate func with(_ priority: Priority) -> ThumbnailRequest {
    var copy = self
    copy.priority = priority
    return copy
  }
}
