import DecodeSandbox
import Foundation
import HTTPTransport
import ImageCodec
import ThumbnailCache
import ThumbnailCore

/// The stages of the pipeline: connects caches, transport and codec, which do not depend on each other.
///
/// Each method is one step of a request and throws the pipeline's own errors.
struct PipelineStages: Sendable {
  let cache: ThumbnailCache
  let events: EventHub<PipelineEvent>
  let statistics = StatisticsCounter()
  private(set) var configuration: ThumbnailPipeline.Configuration
  private(set) var limits: DecodeLimits
  /// Decides what may be used without revalidation.
  private(set) var rule: FreshnessRule
  /// The memory budget for decodes.
  let decodes: WeightedSemaphore
  /// The memory budget for bodies.
  let bodyMemory: WeightedSemaphore
  /// Decides where decodes run that do not fit into their budget.
  let admission: DecodeAdmission
  /// The helper processes; nil if everything is decoded in process.
  let helpers: HelperPool?
  /// Where the helpers' memory comes from.
  let helperMemory: HelperMemory
  /// Limits the local files that are open at once.
  let openFiles = WeightedSemaphore(capacity: 64)
  let downloader: Downloader
  /// The threads for codec work and for opening files.
  let workers: WorkerPool
  private let openingProblem: DiskCacheError?

  init(_ configuration: ThumbnailPipeline.Configuration) {
    self.configuration = configuration
    let events = EventHub<PipelineEvent>()
    self.events = events
    let budget = MemoryBudget(
      total: configuration.memoryBudget.bytes, downloads: configuration.downloads, jobs: configuration.jobs)
    decodes = WeightedSemaphore(capacity: budget.decodeShare)
    bodyMemory = WeightedSemaphore(capacity: budget.bodyShare)
    admission = DecodeAdmission(configuration, budget: budget)
    helperMemory = HelperMemory(configuration, budget: budget, cgroupLimit: Cgroup.memoryLimit())
    var download = configuration.download(budget)
    download.ledger = HostFile(
      directory: configuration.diskCacheLimit.bytes > 0 ? configuration.cacheDirectory : nil)
    download.onHostPause = { pause in
      events.send(
        nil,
        .hostPaused(
          host: pause.host, duration: pause.duration, failure: pause.failure, isWaitedFor: pause.isWaitedFor))
    }
    downloader = Downloader(download, bodyMemory: bodyMemory, spillMemory: decodes)
    // Otherwise files that are too old, or beyond a limit that was lowered, would stay until the next large download.
    if let store = configuration.partialStore { PartialStore.onThread { store.tidy() } }
    limits = DecodeLimits(configuration)
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
    rule = FreshnessRule(configuration.cacheMode, now: configuration.now)
    let memory = MemoryCache(byteLimit: configuration.memoryCacheLimit.bytes, rule: rule)
    cache = ThumbnailCache(memory: memory, disk: disk, rule: rule) {
      events.send(nil, .cacheProblem("\($0)"))
    }
  }

  /// The same stages by the options of a request that comes now.
  func following(_ options: RequestOptions) -> PipelineStages {
    if options == RequestOptions() { return self }
    var stages = self
    if let limit = options.maximumSourceBytes { stages.configuration.maximumSourceBytes = limit }
    if let limit = options.maximumPixels { stages.configuration.maximumPixels = limit }
    stages.limits = DecodeLimits(stages.configuration)
    if let mode = options.cacheMode {
      stages.configuration.cacheMode = mode
      stages.rule = FreshnessRule(mode, now: configuration.now)
    }
    return stages
  }

  /// Why thumbnails are not stored on disk; nil if they are.
  var cacheProblem: String? { (openingProblem ?? cache.diskProblem).map { "\($0)" } }

  /// Why the disk cache was replaced by an empty one; nil if it was not.
  var cacheReplacement: String? { cache.diskReplacement.map { "\($0)" } }

  /// A warning that other users can access the cache's folder; nil if they cannot.
  var cacheExposure: String? { cache.disk?.exposure }

  /// The counters, less what failed to be written to disk.
  var currentStatistics: PipelineStatistics {
    var current = statistics.current
    current.storedBytes -= cache.disk?.lostBytes ?? 0
    return current
  }

  /// Fetches the small responses of photo search APIs over the same connections.
  var httpClient: any HTTPClient {
    configuration.cacheMode == .offline ? OfflineHTTPClient() : CurlHTTPClient(downloader: downloader)
  }

  /// The number of downloads that wait for a slot.
  var waitingDownloads: Int { downloader.waitingDownloads }

  /// The number of downloads that wait for a silent server, by host.
  var silentDownloads: [String: Int] { downloader.silentDownloads }

  /// The result of rendering a body.
  enum Rendering {
    /// Each variant has its own success or failure. `plan` describes the decode plan, if there was one.
    case done([(Variant, Result<Thumbnail, ThumbnailError>)], plan: String?)
    /// The body was stopped too early for these variants: fetch all of it.
    case needsWholeBody
    /// The preview in the EXIF data does not match: decode the image itself.
    case needsPicture
    /// The coefficient reader cannot read the file: use libvips, which needs the whole body.
    case needsLibvips
  }

  /// Makes all the variants from one decode, as soon as memory for it is free.
  ///
  /// - Throws: Errors that concern all variants, such as an image beyond the limits.
  func render(
    _ variants: [Variant], of source: ImageSource, from body: SourceBody, priority: PriorityControl
  ) async throws(ThumbnailError) -> Rendering {
    let probe: ImageProbe
    switch try await reading(of: body, source: source, priority: priority) {
    case .inHelper(let format, let helpers):
      return try await render(variants, of: source, from: body, format: format, in: helpers, priority: priority)
    case .inProcess(let found): probe = found
    }
    let sorted = sort(variants, probe: probe, body: body)
    let affordable = sorted.affordable
    var tooDear = sorted.tooDear
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
    let rendering: Rendering
    if plan.predictedBytes > admission.share {
      do throws(ThumbnailError) {
        let decoding = try await decodeAlone(plan, affordable, of: source, from: body, priority: priority)
        rendering = try await complete(decoding, of: plan, affordable, of: source, from: body, priority: priority)
      } catch {
        guard case .memoryUnavailable = error else { throw error }
        // Variants that need less memory are not delayed by the others.
        let (modest, dear) = partition(affordable, probe: probe, body: body)
        if modest.isEmpty { throw error }
        tooDear += dear.map { ($0, .failure(error)) }
        rendering = try await render(modest, of: source, from: body, priority: priority)
      }
    } else {
      let decoding = try await decode(plan, of: source, from: body, priority: priority)
      rendering = try await complete(decoding, of: plan, affordable, of: source, from: body, priority: priority)
    }
    guard case .done(let made, let plan) = rendering else { return rendering }
    return .done(made + tooDear, plan: plan)
  }

  /// The result of carrying out a plan.
  enum Decoding {
    /// One result per variant, and the time it took on the worker.
    case decoded([RenderedVariant], Duration)
    /// There is nothing more to do.
    case ended(Rendering)
  }

  /// Carries out a plan in process, as soon as memory for it is free.
  private func decode(
    _ plan: DecodePlan, of source: ImageSource, from body: SourceBody, priority: PriorityControl
  ) async throws(ThumbnailError) -> Decoding {
    let reservation = try await reserve(plan.predictedBytes, of: body.bytes, priority: priority)
    defer { reservation.release() }
    return try await carryOut(plan, of: source, from: body, priority: priority)
  }

  /// Carries out a plan in process, with its memory reserved.
  func carryOut(
    _ plan: DecodePlan, of source: ImageSource, from body: SourceBody, priority: PriorityControl
  ) async throws(ThumbnailError) -> Decoding {
    let (results, duration) = try await decode(
      "\(plan)", reserved: plan.predictedBytes, source: source, priority: priority
    ) { cancellation in
      Downsampler.render(body.bytes, plan: plan, cancellation: cancellation)
    }
    try checkUnchanged(body)
    for case .failure(let error) in results.map(\.result) {
      switch error {
      case .handedOver where body.mayReadCoefficients: return .ended(.needsLibvips)
      // The ends of the scans were seen, but the scans lack data.
      case .truncated where !body.isComplete: return .ended(.needsWholeBody)
      // Salvaging needs the whole body.
      case .damaged where !body.isComplete && configuration.damaged == .accept: return .ended(.needsWholeBody)
      default: break
      }
    }
    return .decoded(results, duration)
  }

  /// Completes the result of a carried-out plan. Holds no memory reserved for decodes.
  private func complete(
    _ decoding: Decoding, of plan: DecodePlan, _ variants: [Variant], of source: ImageSource, from body: SourceBody,
    priority: PriorityControl
  ) async throws(ThumbnailError) -> Rendering {
    let results: [RenderedVariant]
    let duration: Duration
    switch decoding {
    case .ended(let rendering): return rendering
    case .decoded(let made, let time): (results, duration) = (made, time)
    }
    let readable = try await salvaging(results, of: source, from: body, probe: plan.probe, priority: priority)
    try checkUnchanged(body)
    events.send(source, .rendered(variants, duration: duration))
    let made = readable.map { made in
      let result = made.result.map { body.completing($0) }
      return (made.variant, result.mapError { ThumbnailError($0, of: configuration) })
    }
    return .done(made, plan: "\(plan)")
  }

  /// Fails if a local file was modified while it was read.
  func checkUnchanged(_ body: SourceBody) throws(ThumbnailError) {
    if let file = body.file, file.hasChanged {
      throw ThumbnailError(.fileUnreadable(reason: "it changed while it was read"))
    }
  }

  /// Waits for memory for a decode. `body` must be named if its bytes are borrowed from that memory.
  func reserve(
    _ bytes: Int, of body: ByteSource? = nil, priority: PriorityControl
  ) async throws(ThumbnailError) -> WeightedSemaphore.Reservation {
    do throws(WeightedSemaphore.Failure) {
      return try await decodes.reserve(bytes, holdingLent: body?.isFileInMemory == true, priority: priority)
    } catch {
      throw ThumbnailError(error)
    }
  }

  /// Carries out a plan on a worker, once its memory is reserved. Returns the time it took there as well.
  func decode<Value: Sendable>(
    _ plan: String, reserving bytes: Int, of body: ByteSource? = nil, source: ImageSource?, priority: PriorityControl,
    _ task: @escaping @Sendable (CancellationFlag) -> Value
  ) async throws(ThumbnailError) -> (Value, Duration) {
    let reservation = try await reserve(bytes, of: body, priority: priority)
    defer { reservation.release() }
    return try await decode(plan, reserved: bytes, source: source, priority: priority, task)
  }

  /// Carries out a plan on a worker, with its memory reserved. Returns the time it took there as well.
  func decode<Value: Sendable>(
    _ plan: String, reserved bytes: Int, source: ImageSource?, priority: PriorityControl,
    _ task: @escaping @Sendable (CancellationFlag) -> Value
  ) async throws(ThumbnailError) -> (Value, Duration) {
    events.send(source, .planned(description: plan, reservedBytes: bytes))
    let outcome = try await work(priority) { cancellation in
      let started = ContinuousClock.now
      let value = task(cancellation)
      return (value, .now - started)
    }
    statistics.add(1, to: \.decodes)
    return outcome
  }

  /// The thumbnail made from a larger one, which must have the same aspect. It is fresh for as long as that one. Nil when
  /// the larger one cannot be read.
  func shrink(
    _ larger: DatedThumbnail, to variant: Variant, of source: ImageSource, priority: PriorityControl
  ) async -> DatedThumbnail? {
    let bytes = ByteSource.memory([UInt8](larger.thumbnail.data))
    guard let probe = try? probe(bytes, limits: limits),
      let plan = try? DecodePlan.make(
        probe: probe, bodyLength: bytes.count, variants: [variant], memoryBudget: decodes.capacity,
        mayReadCoefficients: configuration.readsCoefficients),
      let (results, _) = try? await decode(
        "\(plan)", reserving: plan.predictedBytes, source: source, priority: priority,
        { Downsampler.render(bytes, plan: plan, cancellation: $0) }),
      var thumbnail = try? results.first?.result.get()
    else { return nil }
    thumbnail.source = larger.thumbnail.source
    thumbnail.isDamaged = larger.thumbnail.isDamaged
    return DatedThumbnail(thumbnail: thumbnail, freshness: larger.freshness)
  }

  /// Waits until all stored thumbnails are on disk.
  func flush() async {
    await downloader.configuration.ledger?.flush()
    await cache.flush()
  }

  /// In which process the image is decoded, from its header: known since the download, or parsed now if that was not
  /// possible before.
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

  /// Runs blocking codec work on a worker thread.
  func work<Value: Sendable>(
    _ priority: PriorityControl, _ task: @escaping @Sendable (CancellationFlag) -> Value
  ) async throws(ThumbnailError) -> Value {
    do {
      return try await workers.run(priority: priority) { flag in Result<Value, Never>.success(task(flag)) }.get()
    } catch {
      throw .cancelled
    }
  }
}

extension DecodeLimits {
  init(_ configuration: ThumbnailPipeline.Configuration) {
    self.init(maximumPixels: configuration.maximumPixels, maximumBytes: configuration.maximumSourceBytes.bytes)
  }
}
