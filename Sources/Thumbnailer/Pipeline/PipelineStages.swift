import Foundation

/// The stages of the pipeline, connected: caches, download and codec, which know nothing of each other.
///
/// Each method is one step on the way of a request and speaks the pipeline's own errors.
struct PipelineStages: Sendable {
  let cache: ThumbnailCache
  let events: EventHub<PipelineEvent>
  let statistics = StatisticsCounter()
  let configuration: ThumbnailPipeline.Configuration
  let limits: DecodeLimits
  /// The memory for decodes.
  let decodes: ByteLimiter
  /// The processes that decode for us; nil where everything is decoded in this one.
  let helpers: HelperPool?
  /// How many local files are open at once: it hands out files, not bytes.
  let openFiles = ByteLimiter(capacity: 64)
  let downloader: Downloader
  /// The threads on which the codec works and files are opened.
  let workers: WorkerPool
  private let openingProblem: DiskCacheError?

  init(_ configuration: ThumbnailPipeline.Configuration) {
    self.configuration = configuration
    let events = EventHub<PipelineEvent>()
    self.events = events
    let budget = MemoryBudget(
      total: configuration.memoryBudget.bytes, downloads: configuration.downloads, jobs: configuration.jobs)
    decodes = ByteLimiter(capacity: budget.decodeShare)
    downloader = Downloader(configuration.download(budget), bodyMemory: ByteLimiter(capacity: budget.bodyShare))
    // Else what is too old, or beyond a limit that was lowered, would stay until the next large download.
    configuration.partialStore?.tidy()
    limits = DecodeLimits(
      maximumPixels: configuration.maximumPixels, maximumBytes: configuration.maximumSourceBytes.bytes)
    helpers = configuration.isolation.executable == nil ? nil : HelperPool(configuration.isolation)
    workers = WorkerPool(name: "thumbnailer.codec", threads: configuration.jobs) { Codec.threadWillEnd() }
    var disk: DiskCache?
    var problem: DiskCacheError?
    if configuration.diskCacheLimit.bytes > 0 {
      do throws(DiskCacheError) {
        disk = try DiskCache(
          directory: configuration.cacheDirectory, byteLimit: configuration.diskCacheLimit.bytes)
      } catch {
        problem = error
        Log.pipeline.warning("\(error)")
      }
    }
    openingProblem = problem
    let rule = FreshnessRule(configuration.cacheMode, now: configuration.now)
    let memory = MemoryCache(byteLimit: configuration.memoryCacheLimit.bytes, rule: rule)
    cache = ThumbnailCache(memory: memory, disk: disk, rule: rule) {
      events.send(nil, .cacheProblem("\($0)"))
    }
  }

  /// Why thumbnails are not stored on disk; nil when all is well.
  var cacheProblem: String? { (openingProblem ?? cache.diskProblem).map { "\($0)" } }

  /// Why the disk cache was begun anew; nil when it was not.
  var cacheReplacement: String? { cache.diskReplacement.map { "\($0)" } }

  /// What was done, with what was lost on its way to the disk taken off.
  var currentStatistics: PipelineStatistics {
    var current = statistics.current
    current.storedBytes -= cache.disk?.lostBytes ?? 0
    return current
  }

  /// Fetches the small answers of photo search APIs over the same connections.
  var httpClient: any HTTPClient {
    configuration.cacheMode == .offline ? OfflineHTTPClient() : CurlHTTPClient(downloader: downloader)
  }

  /// The number of downloads that wait for a slot.
  var waitingDownloads: Int { downloader.waitingDownloads }

  /// How many downloads wait for a server that has fallen silent, by its host.
  var silentDownloads: [String: Int] { downloader.silentDownloads }

  /// What came of a body.
  enum Rendering {
    /// Each variant has its own success or failure. The plan in words goes with them where there was one.
    case done([(Variant, Result<Thumbnail, ThumbnailError>)], plan: String?)
    /// The body was stopped too early for these variants: it takes all of it.
    case needsWholeBody
    /// The preview in the picture's EXIF data is not to be shown: it takes the picture itself.
    case needsPicture
    /// The coefficient reader cannot read the file: it takes libvips, and all of the body.
    case needsLibvips
  }

  /// Makes all the variants from one decode, as soon as the memory for it is free.
  ///
  /// - Throws: What concerns them all, such as a picture beyond the limits.
  func render(
    _ variants: [Variant], of source: ImageSource, from body: SourceBody, priority: PriorityControl
  ) async throws(ThumbnailError) -> Rendering {
    let probe: ImageProbe
    switch try await reading(of: body, source: source, priority: priority) {
    case .inHelper(let format, let helpers):
      return try await render(variants, of: source, from: body, format: format, in: helpers, priority: priority)
    case .inProcess(let found): probe = found
    }
    let (affordable, tooDear) = sort(variants, probe: probe, body: body)
    guard !affordable.isEmpty else {
      try checkThatSomeSizeCanBeMade(probe: probe, body: body)
      return .done(tooDear, plan: nil)
    }
    if tooDear.isEmpty,
      let made = try await renderFromPreview(affordable, of: source, from: body, probe: probe, priority: priority)
    {
      return made
    }
    let plan: DecodePlan
    do throws(CodecError) {
      plan = try self.plan(affordable, probe: probe, body: body)
    } catch {
      throw ThumbnailError(error, of: configuration)
    }
    guard body.isEnough(for: plan) else { return .needsWholeBody }
    let (results, duration) = try await decode(
      "\(plan)", reserving: plan.predictedBytes, source: source, priority: priority
    ) { cancellation in
      Downsampler.render(body.bytes, plan: plan, cancellation: cancellation)
    }
    try checkUnchanged(body, of: source)
    for case .failure(let error) in results.map(\.result) {
      switch error {
      case .handedOver where body.mayReadCoefficients: return .needsLibvips
      // The scans' ends were seen, but not all that should be in them is.
      case .truncated where !body.isComplete: return .needsWholeBody
      default: break
      }
    }
    events.send(source, .rendered(affordable, duration: duration))
    let made = results.map { made in
      let result = made.result.map { body.completing($0) }
      return (made.variant, result.mapError { ThumbnailError($0, of: configuration) })
    }
    return .done(made + tooDear, plan: "\(plan)")
  }

  /// Refuses what was read of a local file that somebody wrote to meanwhile.
  func checkUnchanged(_ body: SourceBody, of source: ImageSource) throws(ThumbnailError) {
    if let file = body.file, file.hasChanged {
      throw ThumbnailError(.fileUnreadable(reason: "it changed while it was read"), source: source)
    }
  }

  /// Tells the variants that can be made within the budget from those that cannot, even alone.
  private func sort(
    _ variants: [Variant], probe: ImageProbe, body: SourceBody
  ) -> (affordable: [Variant], tooDear: [(Variant, Result<Thumbnail, ThumbnailError>)]) {
    var affordable: [Variant] = []
    var tooDear: [(Variant, Result<Thumbnail, ThumbnailError>)] = []
    for variant in variants {
      do throws(CodecError) {
        _ = try plan([variant], probe: probe, body: body)
        affordable.append(variant)
      } catch {
        tooDear.append((variant, .failure(ThumbnailError(error, of: configuration))))
      }
    }
    return (affordable, tooDear)
  }

  /// Refuses a picture of which not even the smallest thumbnail can be made within the budget: that concerns all who ask
  /// for it, and is remembered.
  private func checkThatSomeSizeCanBeMade(probe: ImageProbe, body: SourceBody) throws(ThumbnailError) {
    do throws(CodecError) {
      _ = try plan([Variant(size: PixelSize(1, 1), fit: .contain)], probe: probe, body: body)
    } catch {
      throw ThumbnailError(error, of: configuration)
    }
  }

  private func plan(_ variants: [Variant], probe: ImageProbe, body: SourceBody) throws(CodecError) -> DecodePlan {
    var plan = try DecodePlan.make(
      probe: probe, bodyLength: body.bytes.count, variants: variants, memoryBudget: decodes.capacity,
      mayReadCoefficients: body.mayReadCoefficients)
    plan.isBodyWhole = body.isComplete
    return plan
  }

  /// Carries out a plan on a worker, once its memory is reserved. Tells how long that took on the worker.
  func decode<Value: Sendable>(
    _ plan: String, reserving bytes: Int, source: ImageSource?, priority: PriorityControl,
    _ task: @escaping @Sendable (CancellationFlag) -> Value
  ) async throws(ThumbnailError) -> (Value, Duration) {
    let reservation: ByteLimiter.Reservation
    do throws(ByteLimiter.Failure) {
      reservation = try await decodes.reserve(bytes, priority: priority)
    } catch {
      throw .cancelled
    }
    defer { reservation.release() }
    events.send(source, .planned(description: plan, reservedBytes: bytes))
    let outcome = try await work(priority) { cancellation in
      let started = ContinuousClock.now
      let value = task(cancellation)
      return (value, .now - started)
    }
    statistics.add(1, to: \.decodes)
    return outcome
  }

  /// The thumbnail made from a larger one in the caches, if there is one. It holds for as long as that one.
  func shrunkFromCache(_ key: CacheKey, of source: ImageSource, priority: PriorityControl) async -> DatedThumbnail? {
    guard let (_, larger) = await cache.shrinkable(for: key, lasts: source.isUserFile, priority: priority) else {
      return nil
    }
    let bytes = ByteSource.memory([UInt8](larger.thumbnail.data))
    guard let probe = try? probe(bytes, limits: limits),
      let plan = try? DecodePlan.make(
        probe: probe, bodyLength: bytes.count, variants: [key.variant], memoryBudget: decodes.capacity),
      let (results, _) = try? await decode(
        "\(plan)", reserving: plan.predictedBytes, source: source, priority: priority,
        { Downsampler.render(bytes, plan: plan, cancellation: $0) }),
      var thumbnail = try? results.first?.result.get()
    else { return nil }
    thumbnail.source = larger.thumbnail.source
    return DatedThumbnail(thumbnail: thumbnail, freshness: larger.freshness)
  }

  /// Waits until everything stored is on disk.
  func flush() async {
    await cache.flush()
  }

  /// Where the picture is decoded, as its header says: known from the body's arrival, or read now where it was not to be
  /// known before.
  private func reading(
    of body: SourceBody, source: ImageSource, priority: PriorityControl
  ) async throws(ThumbnailError) -> Reading {
    if let header = body.header { return try reading(header, source: source) }
    let bytes = body.bytes
    let result: Result<ImageProbe, CodecError>?
    result = try? await workers.run(priority: priority) { [limits] _ in
      Result { () throws(CodecError) in try probe(bytes, limits: limits) }
    }
    guard let result else { throw .cancelled }
    return try reading(result, source: source)
  }

  /// Runs blocking work of the codec on its own threads.
  private func work<Value: Sendable>(
    _ priority: PriorityControl, _ task: @escaping @Sendable (CancellationFlag) -> Value
  ) async throws(ThumbnailError) -> Value {
    do {
      return try await workers.run(priority: priority) { flag in Result<Value, Never>.success(task(flag)) }.get()
    } catch {
      throw .cancelled
    }
  }
}
