public import Foundation
public import HTTPTransport
package import ThumbnailCache
public import ThumbnailCore

/// Makes thumbnails: from its caches if they are stored, else by downloading and downsampling each source image once
/// for all waiters.
///
/// May be used from any thread or task. Work is cancelled when the pipeline is deallocated; after `flush()` everything
/// made is on disk.
///
///     let thumbnail = try await ThumbnailPipeline.shared.thumbnail(for: url, size: 400)
public final class ThumbnailPipeline: Sendable {
  /// The pipeline of the process, with the default configuration and the default cache folder.
  ///
  /// If it cannot be set up, all its requests fail with the error that `init(_:)` throws. A program that ends calls
  /// `flush()` first.
  public static let shared: ThumbnailPipeline = {
    let configuration = Configuration()
    do throws(ThumbnailError) {
      return try ThumbnailPipeline(configuration)
    } catch {
      return ThumbnailPipeline(checked: configuration, error: error)
    }
  }()

  /// The pipeline's configuration, with fewer downloads and decodes than requested if the process may open only few
  /// files.
  public let configuration: Configuration

  let stages: PipelineStages
  let jobs: RunningJobs
  /// Why all requests fail.
  private let error: ThumbnailError?

  /// Sets up the stages. Starts no thread and reads no image yet; opens the disk cache, which takes a millisecond, or
  /// seconds if another process is creating or moving it.
  ///
  /// An unusable disk cache is no error: the pipeline works from memory alone, and `cacheProblem` has the reason.
  ///
  /// - Throws: `ThumbnailError.invalidRequest` for invalid values, with the value's name, and if the process may open too
  ///   few files.
  public convenience init(_ configuration: Configuration = Configuration()) throws(ThumbnailError) {
    if let problem = configuration.problem { throw .invalidRequest(reason: problem) }
    self.init(checked: try configuration.fittingDescriptors())
  }

  /// - Parameter error: What all requests fail with.
  init(checked configuration: Configuration, error: ThumbnailError? = nil) {
    self.configuration = configuration
    self.error = error
    stages = PipelineStages(configuration)
    jobs = RunningJobs(stages)
  }

  deinit {
    jobs.cancelAll()
    stages.monitor.events.finish()
  }

  /// The requested thumbnail.
  ///
  /// Cancelling the calling task cancels the request; the work stops if it has no other waiters.
  public func thumbnail(for request: ThumbnailRequest) async throws(ThumbnailError) -> Thumbnail {
    try await response(for: request).thumbnail
  }

  /// A thumbnail of an image on the web or of a local file, in a box of `size` × `size` device pixels: of the whole image,
  /// unless `fit` says otherwise.
  public func thumbnail(for url: URL, size: Int, fit: Fit = .contain) async throws(ThumbnailError) -> Thumbnail {
    try await thumbnail(for: ThumbnailRequest(url, size: size, fit: fit))
  }

  /// The requested thumbnail, and how it was obtained.
  public func response(for request: ThumbnailRequest) async throws(ThumbnailError) -> ThumbnailResponse {
    try await response(for: request, following: nil)
  }

  /// The requested thumbnail, at a priority that may change meanwhile: it replaces the request's own.
  func response(
    for request: ThumbnailRequest, following priority: PriorityControl?
  ) async throws(ThumbnailError) -> ThumbnailResponse {
    let started = ContinuousClock.now
    if let result = resultWithoutJob(request, since: started) { return try result.get() }
    var request = request
    request.priority = priority?.current ?? request.priority
    let waiter = jobs.join([request], since: started)[0]
    let observation = priority?.observe { [weak jobs] in jobs?.setPriority(of: waiter, to: $0) }
    defer { if let observation { priority?.stopObserving(observation) } }
    return try await jobs.result(of: waiter).get()
  }

  /// Several thumbnails of one image, each with its own success or failure, in the order of `variants`.
  ///
  /// They share one download and one decode.
  public func responses(
    for source: ImageSource, variants: [Variant], priority: Priority = .visible
  ) async -> [Result<ThumbnailResponse, ThumbnailError>] {
    await responses(for: variants.map { ThumbnailRequest(source, variant: $0, priority: priority) })
  }

  /// Decodes a file, without caches and without joining other requests. Blocks: call it on `lanes`.
  ///
  /// - Parameter meanwhile: What the thread does while it waits, if it has not done it already.
  /// - Returns: What encodes the thumbnails of all variants, in their order, once; or throws the first error.
  package func decode(
    _ source: ImageSource, for variants: [Variant], cancellation: CancellationFlag, meanwhile: () -> Void
  ) -> FileEncoding {
    let job = JobContext(source, policy: stages.policy(for: RequestOptions()), priority: PriorityControl(.visible))
    let encoding: Renderer.Encoding
    do throws(ThumbnailError) {
      encoding = try stages.renderer.renderHere(
        variants, from: stages.files.body(for: job), for: job, cancellation, meanwhile: meanwhile)
    } catch {
      return { () throws(ThumbnailError) in throw error }
    }
    return { [configuration] () throws(ThumbnailError) in
      guard case .done(let made, let plan) = try encoding() else {
        throw ThumbnailError(.helperFailed(.nonsense(detail: "it needs more of a whole file")), of: configuration)
      }
      let thumbnails = try variants.map { (variant) throws(ThumbnailError) in
        try (made.first { $0.variant == variant }?.result ?? .failure(.cancelled)).get()
      }
      return (thumbnails, plan)
    }
  }

  /// See `decode(_:for:cancellation:meanwhile:)`.
  package typealias FileEncoding = () throws(ThumbnailError) -> (thumbnails: [Thumbnail], plan: String?)

  /// The threads for `decode(_:for:cancellation:meanwhile:)`.
  package var lanes: WorkerPool { stages.runner.lanes }

  /// Serves memory cache hits at once and waits for the rest. All requests are for one source.
  ///
  /// - Parameter onSilence: Called when the image starts to wait for a silent server, and when the server continues.
  ///   The first call may report that it does not wait.
  package func responses(
    for requests: [ThumbnailRequest], onSilence: (@Sendable (ServerSilence) -> Void)? = nil
  ) async -> [Result<ThumbnailResponse, ThumbnailError>] {
    let started = ContinuousClock.now
    var results = requests.map { resultWithoutJob($0, since: started) }
    let open = results.indices.filter { results[$0] == nil }
    let waiters = jobs.join(open.map { requests[$0] }, since: started)
    let silence =
      waiters.isEmpty || onSilence == nil
      ? nil : jobs.progress(of: requests[0].source, options: requests[0].options)?.silence
    let observation = onSilence.flatMap { silence?.observe($0) }
    defer { if let observation { silence?.stopObserving(observation) } }
    for (index, waiter) in zip(open, waiters) { results[index] = await jobs.result(of: waiter) }
    return results.map { $0 ?? .failure(.cancelled) }
  }

  /// The result of a request that needs no work: a memory cache hit, or an invalid request.
  func resultWithoutJob(
    _ request: ThumbnailRequest, since started: ContinuousClock.Instant
  ) -> Result<ThumbnailResponse, ThumbnailError>? {
    if let hit = cachedThumbnail(for: request) {
      stages.monitor.add(1, to: \.memoryHits)
      stages.monitor.send(request.source, .memoryHit(request.variant))
      return .success(ThumbnailResponse(thumbnail: hit, origin: .memory, duration: .now - started))
    }
    if let error = error ?? request.problem.map(ThumbnailError.invalidRequest(reason:)) {
      stages.monitor.add(1, to: \.failures)
      stages.monitor.send(request.source, .failed([request.variant], error))
      return .failure(error)
    }
    return Task.isCancelled ? .failure(.cancelled) : nil
  }

  /// The thumbnail if it is in the memory cache. Returns at once, on any thread, within a microsecond.
  public func cachedThumbnail(for key: CacheKey) -> Thumbnail? {
    stages.cache.memoryThumbnail(for: key)
  }

  /// The thumbnail if it is in the memory cache and the request's cache mode admits it.
  private func cachedThumbnail(for request: ThumbnailRequest) -> Thumbnail? {
    guard request.options.cacheMode != nil || configuration.cacheMode == .noStore else {
      return cachedThumbnail(for: request.key)
    }
    let policy = stages.policy(for: request.options)
    return policy.bypassesCaches
      ? nil : stages.cache.memoryThumbnail(for: request.key, admittedBy: policy.rule)
  }

  /// The requests, each with its own success or failure, in the order of completion.
  ///
  /// Requests are taken from the sequence as results are taken from the stream, so neither needs to fit in memory: at
  /// most `window` requests are in flight or finished and not taken yet. Up to 256 of them that wait for a silent
  /// server are not counted. Deallocating the iterator cancels the requests in flight. For a single pass by one
  /// consumer: each iterator starts the requests again.
  ///
  /// - Parameters:
  ///   - requests: Any number of requests, for any images.
  ///   - window: Default: four for each concurrent download and decode.
  public func thumbnails<Requests: Sequence>(
    for requests: Requests, window: Int? = nil
  ) -> some AsyncSequence<(request: ThumbnailRequest, result: Result<ThumbnailResponse, ThumbnailError>), Never>
    & Sendable
  where Requests.Element == ThumbnailRequest, Requests: Sendable {
    ThumbnailResults(
      pipeline: self, requests: requests,
      window: window ?? 4 * (configuration.downloads + configuration.jobs))
  }

  /// A new stream of all events from now on. A listener that falls behind by more than 4,096 events loses the oldest; it
  /// never delays the pipeline. Each listener has its own stream and gets all events. The stream ends with the pipeline.
  public var events: AsyncStream<PipelineEvent> { events(bufferingNewest: 4096) }

  /// The same with another limit.
  package func events(bufferingNewest limit: Int) -> AsyncStream<PipelineEvent> {
    stages.monitor.events.subscribe(bufferingNewest: limit)
  }

  /// A stream of the pauses of hosts and services alone, which does not wake its listener for each image.
  package func pauses() -> AsyncStream<PipelineEvent> {
    stages.monitor.events.subscribe(bufferingNewest: 4096) { if case .hostPaused = $0.kind { true } else { false } }
  }

  /// Calls `listener` with each event as it happens, on the thread of its stage and before waiters get their results,
  /// for as long as the returned stream is kept. The listener must return at once.
  package func listen(_ listener: @escaping @Sendable (PipelineEvent) -> Void) -> AsyncStream<PipelineEvent> {
    stages.monitor.events.subscribe(bufferingNewest: 0) { event in
      listener(event)
      return false
    }
  }

  /// The counters so far, less the bytes that could not be written to disk.
  public var statistics: PipelineStatistics {
    var current = stages.monitor.statistics
    current.storedBytes -= stages.cache.disk?.lostBytes ?? 0
    return current
  }

  /// The number of sources with a running job.
  package var activeJobs: Int { jobs.count }

  /// The number of downloads that wait for a slot now.
  package var waitingDownloads: Int { stages.downloader.waitingDownloads }

  /// The number of downloads whose server is silent, by host, with the port if it is not the default. They do not delay
  /// others, and are retried after them.
  package var silentDownloads: [String: Int] { stages.downloader.silentDownloads }

  /// The part of `configuration.memoryBudget` in use now, by bodies and decodes.
  package var bytesInFlight: Int { stages.bodyMemory.used + stages.runner.memory.used }

  /// Fetches the small responses of photo search APIs, over the same connections as images.
  public var httpClient: any HTTPClient {
    configuration.cacheMode == .offline ? OfflineHTTPClient() : CurlHTTPClient(downloader: stages.downloader)
  }

  /// The file of an image on the web, as its server sends it, with its share of `memory`: it is downloaded into a
  /// buffer, and read from there when its length is known and there is room for it. Uses no cache.
  package func original(
    of source: ImageSource, in memory: WeightedSemaphore
  ) async throws(ThumbnailError) -> (Data, WeightedSemaphore.Reservation) {
    try await stages.http.original(of: source, in: memory)
  }

  /// The store of search result pages beside the thumbnails, for offline use; nil without a disk cache.
  package var pageStore: ThumbnailCache? { stages.cache.disk == nil ? nil : stages.cache }

  /// The last reason why a thumbnail could not be stored on disk, with what to do; nil if all could.
  public var cacheProblem: String? {
    (stages.openingProblem ?? stages.cache.diskProblem).map { "\($0)" }
  }

  /// The reason why the file of the disk cache was replaced by an empty one, such as damage; nil if it was not.
  /// Thumbnails are stored as usual from then on.
  package var cacheReplacement: String? { stages.cache.diskReplacement.map { "\($0)" } }

  /// A warning that other users of the machine can access the cache's folder, with what to do; nil if they cannot, as
  /// in a folder that the pipeline has created.
  package var cacheExposure: String? { stages.cache.disk?.exposure }

  /// The message if the disk cache can only be read: thumbnails are served from it, and none is stored. Nil if it can
  /// be written, or there is none.
  package var cacheRestriction: String? { stages.cache.disk?.restriction }

  /// Removes all thumbnails of an image from memory and disk: the next request loads it again. Current waiters still
  /// get theirs, but these are not stored.
  public func remove(_ source: ImageSource) async {
    jobs.remove({ $0.detach(source.key) }, from: { stages.cache.forget(source.key) })
    await flush()
  }

  /// Removes all thumbnails of the selected images: the next requests load them again. Current waiters still get
  /// theirs, but these are not stored. Memory is emptied, because it knows no addresses.
  ///
  /// - Returns: How many images were on disk.
  @discardableResult
  package func remove(_ selection: CacheSelection) async throws(DiskCacheError) -> Int {
    jobs.remove({ $0.detachAll() }, from: { stages.cache.forgetMemory() })
    await flush()
    return try await stages.cache.disk?.remove(selection) ?? 0
  }

  /// Removes all thumbnails from memory and disk, and partial downloads. Current waiters still get theirs, but these
  /// are not stored.
  public func removeAll() async {
    jobs.remove({ $0.detachAll() }, from: { stages.cache.forgetAll() })
    await flush()
    let directory = configuration.cacheDirectory
    await PartialStore.onThread { Self.removeDownloadRecords(in: directory) }
  }

  /// Removes the partial downloads in a cache folder, except those in use, and the record of paused hosts. Blocks for a
  /// few file operations.
  package static func removeDownloadRecords(in cacheDirectory: URL) {
    HostFile.remove(in: cacheDirectory)
    PartialStore(directory: Configuration.partialDownloads(in: cacheDirectory), byteLimit: 0).removeAll()
  }

  /// The length of the partial downloads in a cache folder, in bytes. Blocks for a few file operations.
  package static func partialDownloadBytes(in cacheDirectory: URL) -> Int {
    PartialStore(directory: Configuration.partialDownloads(in: cacheDirectory), byteLimit: 0).usedBytes
  }

  /// Waits until everything made so far is on disk.
  public func flush() async {
    await stages.downloader.configuration.ledger?.flush()
    await stages.cache.flush()
  }

  /// Starts writing all thumbnails so far to disk, and does not wait for the end.
  package func writeSoon() { stages.cache.writeSoon() }

  /// Waits until all stale thumbnails served so far (`stale-while-revalidate`) are revalidated, and changed ones are
  /// made again. Call it before a program ends, then `flush()`: other thumbnails stay stale until the next request.
  ///
  /// Cancelling the calling task cancels the rest.
  public func finishRevalidations() async { await jobs.finishRevalidations() }

  /// The part of an image's bytes that has arrived, from 0 to 1, while it has a job: 1 when everything needed has
  /// arrived, nil without a job.
  func receivedPart(of source: ImageSource) -> Double? { jobs.progress(of: source)?.fraction }

  /// The time waited in addition to a pause, so that clock differences do not make the next request come too early.
  package static let margin = Duration.milliseconds(20)

  /// Whether to wait for a host's pause outside of downloads, as for a page of a search; it is deducted from
  /// `maximumWait`. Sends an event about the pause.
  package func waits(for pause: Duration, of name: String) -> Bool {
    let waits = stages.downloader.mayWait(for: pause + Self.margin)
    stages.monitor.send(nil, .hostPaused(host: name, duration: pause, failure: nil, isWaitedFor: waits))
    return waits
  }
}

extension ThumbnailPipeline.Configuration {
  /// The environment variables of libcurl's proxies, which may contain a password in their URL.
  package static let proxyVariables = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]

  /// A message if connections would be made past the guard of addresses; nil if there is no such bypass.
  ///
  /// A proxy from the environment is refused, not left out: connections without it may be forbidden here.
  package func guardBypass(environment: [String: String] = ProcessInfo.processInfo.environment) -> String? {
    guard addresses.isGuarded else { return nil }
    guard proxy == .environment,
      let variable = Self.proxyVariables.first(where: { environment[$0].map { !$0.isEmpty } ?? false })
    else { return nil }
    return "\(variable) names a proxy, which would connect past the guard of addresses: choose none, or name it "
      + "(proxy) if it refuses them itself"
  }
}

extension ThumbnailPipeline {
  /// The disk cache's placeholders of images, and the images' sizes. Downloads nothing.
  package func storedPlaceholders(of sources: [SourceKey]) async -> [SourceKey: StoredPlaceholder] {
    await stages.cache.placeholders(of: sources)
  }

  /// The placeholders of images, in their order, to show before the thumbnails: from thumbnails of any size in the disk
  /// cache, in one visit that takes some microseconds for each. Nil for an image without one. Downloads nothing.
  public func placeholders(of sources: [ImageSource]) async -> [Placeholder?] {
    let found = await storedPlaceholders(of: sources.map(\.key))
    return sources.map { found[$0.key]?.placeholder }
  }

  /// The placeholder of one image.
  package func placeholder(of source: ImageSource) async -> Placeholder? { await placeholders(of: [source])[0] }
}

/// Following the progress of a request.
extension ThumbnailPipeline {
  /// The requested thumbnail, and how it was obtained, with calls that report the progress.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - onProgress: Called with the current state and then as it changes, from a task of its own: one call at a time,
  ///     none after this method has returned. A slow one misses states in between, and delays the work in no way; only
  ///     this method waits for the last call to end. Not called for a thumbnail from the memory cache. A request that
  ///     joins a running job begins with the job's state.
  public func response(
    for request: ThumbnailRequest, onProgress: @escaping @Sendable (RequestProgress) -> Void
  ) async throws(ThumbnailError) -> ThumbnailResponse {
    let started = ContinuousClock.now
    if let result = resultWithoutJob(request, since: started) { return try result.get() }
    let waiter = jobs.join([request], since: started)[0]
    let follower = jobs.progress(of: request.source, options: request.options).map { progress in
      let updates = progress.updates.subscribe(bufferingNewest: 1)
      return Task {
        onProgress(progress.current)
        for await update in updates { onProgress(update) }
      }
    }
    let result = await jobs.result(of: waiter)
    follower?.cancel()
    await follower?.value
    return try result.get()
  }
}
