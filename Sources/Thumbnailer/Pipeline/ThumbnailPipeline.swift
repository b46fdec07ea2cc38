public import Foundation
public import HTTPTransport
import Synchronization
import ThumbnailCache
public import ThumbnailCore

/// Makes thumbnails: from its caches if they are stored, else by downloading and downsampling each source image once
/// for all waiters.
///
/// May be used from any thread or task. Work is cancelled when the pipeline is deallocated; after `flush()` everything
/// made is on disk.
///
///     let pipeline = try ThumbnailPipeline()
///     let thumbnail = try await pipeline.thumbnail(for: ThumbnailRequest(url, size: PixelSize(400, 400)))
public final class ThumbnailPipeline: Sendable {
  /// How the pipeline was set up.
  public let configuration: Configuration

  let stages: PipelineStages
  /// The running jobs and their waiters.
  let jobs = Mutex(Jobs())

  /// Sets up the stages. Starts no thread and reads no image yet; opens the disk cache, which takes a millisecond, or
  /// seconds if another process is creating or moving it.
  ///
  /// A disk cache that cannot be used is no error: the pipeline works from memory alone, and `cacheProblem` says why.
  ///
  /// - Throws: `ThumbnailError.invalidRequest` for invalid values, with the value's name.
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

  /// The requested thumbnail.
  ///
  /// Cancelling the calling task cancels the request; the work stops if it has no other waiters.
  public func thumbnail(for request: ThumbnailRequest) async throws(ThumbnailError) -> Thumbnail {
    try await response(for: request).thumbnail
  }

  /// The requested thumbnail, and how it was obtained.
  public func response(for request: ThumbnailRequest) async throws(ThumbnailError) -> ThumbnailResponse {
    try await responses(for: [request])[0].get()
  }

  /// The requested thumbnail, at a priority that may change meanwhile; the request's own priority is ignored.
  func response(
    for request: ThumbnailRequest, following priority: PriorityControl
  ) async throws(ThumbnailError) -> ThumbnailResponse {
    let started = ContinuousClock.now
    if let answer = fromMemory(request, since: started) { return try answer.get() }
    let request = request.with(priority.current)
    let (waiter, sink) = join([request], since: started)[0]
    let observation = priority.observe { [weak self] in self?.setPriority(of: waiter, for: request.source, to: $0) }
    defer { priority.stopObserving(observation) }
    return try await sink.promise.wait { [weak self] in self?.leave(waiter, of: request) }.get()
  }

  /// The part of an image's bytes that has arrived, from 0 to 1, while it has a job: 1 when everything needed has
  /// arrived, nil without a job.
  func receivedPart(of source: ImageSource) -> Double? {
    jobs.withLock { state in
      state.table.job(of: .init(source)).flatMap { state.running[$0]?.progress.fraction }
    }
  }

  /// Whether an image's job waits for a silent server; nil if it has none.
  private func silence(of source: ImageSource) -> ObservedValue<ServerSilence>? {
    jobs.withLock { state in
      state.table.job(of: .init(source)).flatMap { state.running[$0]?.progress.silence }
    }
  }

  /// Several thumbnails of one image, each with its own success or failure, in the order of `variants`.
  ///
  /// They share one download and one decode.
  public func responses(
    for source: ImageSource, variants: [Variant], priority: Priority = .visible
  ) async -> [Result<ThumbnailResponse, ThumbnailError>] {
    await responses(for: variants.map { ThumbnailRequest(source, variant: $0, priority: priority) })
  }

  /// The same, with a callback when the image starts to wait for a silent server, and when the server continues. The
  /// first call may be to say that it does not wait.
  package func responses(
    for source: ImageSource, variants: [Variant], priority: Priority,
    onSilence: @escaping @Sendable (ServerSilence) -> Void
  ) async -> [Result<ThumbnailResponse, ThumbnailError>] {
    await responses(
      for: variants.map { ThumbnailRequest(source, variant: $0, priority: priority) }, onSilence: onSilence)
  }

  /// Serves memory cache hits at once and waits for the rest. All requests are for one source.
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
      results[index] = await sink.promise.wait { [weak self] in
        self?.leave(waiter, of: requests[index])
      }
    }
    return results.map { $0 ?? .failure(.cancelled) }
  }

  /// The result of a request that needs no work: a memory cache hit, or an invalid request.
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
  /// most `window` requests are in flight or finished and not taken yet. Those that wait for a silent server are not
  /// counted, up to 256 of them. Deallocating the iterator cancels what is in flight.
  ///
  /// - Parameter window: Default: four for each concurrent download and decode.
  public func thumbnails<Requests: Sequence>(
    for requests: Requests, window: Int? = nil
  ) -> ThumbnailResults where Requests.Element == ThumbnailRequest, Requests: Sendable {
    ThumbnailResults(
      pipeline: self, requests: requests,
      window: window ?? 4 * (configuration.downloads + configuration.jobs))
  }

  /// A stream of all events from now on. A listener that falls behind by more than `limit` events loses the oldest; it
  /// never delays the pipeline. Each listener gets all events. The stream ends with the pipeline.
  public func events(bufferingNewest limit: Int = 4096) -> AsyncStream<PipelineEvent> {
    stages.events.subscribe(bufferingNewest: limit)
  }

  /// The counters so far.
  public var statistics: PipelineStatistics { stages.currentStatistics }

  /// The number of sources with a running job.
  public var activeJobs: Int { jobs.withLock { $0.table.jobCount } }

  /// The number of downloads that wait for a slot now.
  public var waitingDownloads: Int { stages.waitingDownloads }

  /// The number of downloads whose server is silent, by host, with the port if it is not the default. They do not hold
  /// up others, and are retried after them.
  public var silentDownloads: [String: Int] { stages.silentDownloads }

  /// Fetches the small responses of photo search APIs, over the same connections as images.
  public var httpClient: any HTTPClient { stages.httpClient }

  /// The store of search result pages beside the thumbnails, for offline use; nil without a disk cache.
  public var pageStore: (any PageStore)? { stages.cache.disk == nil ? nil : stages.cache }

  /// The last reason why a thumbnail could not be stored on disk, with what to do; nil if all could.
  public var cacheProblem: String? { stages.cacheProblem }

  /// Why the file of the disk cache was replaced by an empty one, such as damage; nil if it was not. Thumbnails are
  /// stored as usual from then on.
  public var cacheReplacement: String? { stages.cacheReplacement }

  /// A warning that other users of the machine can access the cache's folder, with what to do; nil if they cannot, as
  /// in a folder that the pipeline has created.
  public var cacheExposure: String? { stages.cacheExposure }

  /// Removes all thumbnails of an image from memory and disk: the next request fetches it again. Current waiters still
  /// get theirs, but these are not stored.
  public func remove(_ source: ImageSource) async {
    remove({ $0.detach(source.key) }, from: { stages.cache.forget(source.key) })
    await stages.flush()
  }

  /// Removes all thumbnails from memory and disk, and partial downloads. Current waiters still get theirs, but these
  /// are not stored.
  public func removeAll() async {
    remove({ $0.detachAll() }, from: { stages.cache.forgetAll() })
    await stages.flush()
    let directory = configuration.cacheDirectory
    await PartialStore.onThread { Self.removePartialDownloads(in: directory) }
    Self.removeHostRecords(in: directory)
  }

  /// Removes the record of paused hosts from a cache folder. Blocks for a file operation.
  public static func removeHostRecords(in cacheDirectory: URL) {
    HostFile.remove(in: cacheDirectory)
  }

  /// Removes the partial downloads in a cache folder, except those in use. Blocks for a few file operations.
  public static func removePartialDownloads(in cacheDirectory: URL) {
    PartialStore(directory: Configuration.partialDownloads(in: cacheDirectory), byteLimit: 0).removeAll()
  }

  /// The length of the partial downloads in a cache folder, in bytes. Blocks for a few file operations.
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
