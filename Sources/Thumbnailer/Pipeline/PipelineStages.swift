import DecodeSandbox
import HTTPTransport
import ImageCodec
import ThumbnailCache
import ThumbnailCore

/// The stages of a pipeline: connects caches, transport and codec, which do not depend on each other.
struct PipelineStages: Sendable {
  let configuration: ThumbnailPipeline.Configuration
  private let resources: PipelineResources
  /// Decides what may be used without revalidation.
  let rule: FreshnessRule
  private let http: HTTPLoader
  private let files: FileLoader
  private let revalidator: Revalidator
  let shrinker: Shrinker
  let renderer: Renderer
  let store: ThumbnailStore

  init(_ configuration: ThumbnailPipeline.Configuration) {
    self.init(configuration, sharing: PipelineResources(configuration))
  }

  private init(_ configuration: ThumbnailPipeline.Configuration, sharing resources: PipelineResources) {
    (self.configuration, self.resources) = (configuration, resources)
    let (monitor, cache, runner) = (resources.monitor, resources.cache, resources.runner)
    let limits = DecodeLimits(
      maximumPixels: configuration.maximumPixels, maximumBytes: configuration.maximumSourceBytes.bytes)
    rule = FreshnessRule(configuration.cacheMode, now: configuration.now)
    http = HTTPLoader(
      configuration: configuration, limits: limits, decodeShare: runner.memory.capacity,
      downloader: resources.downloader, monitor: monitor)
    files = FileLoader(
      configuration: configuration, limits: limits, workers: runner.workers, monitor: monitor,
      openFiles: resources.openFiles)
    let failures = CachedFailures(
      configuration: configuration, cache: cache, monitor: monitor,
      limits: .init(
        bytes: limits.maximumBytes, pixels: limits.maximumPixels,
        memory: max(configuration.memoryBudget.bytes, resources.admission.most)))
    revalidator = Revalidator(
      configuration: configuration, http: http, cache: cache, rule: rule, failures: failures, monitor: monitor)
    shrinker = Shrinker(
      rule: rule, limits: limits, readsCoefficients: configuration.readsCoefficients, runner: runner)
    store = ThumbnailStore(configuration: configuration, cache: cache, monitor: monitor)
    renderer = Renderer(
      configuration: configuration, limits: limits,
      planner: DecodePlanner(admission: resources.admission, configuration: configuration), runner: runner,
      helpers: resources.helpers.map {
        HelperRenderer(
          configuration: configuration, limits: limits, pool: $0, memory: resources.helperMemory, runner: runner)
      },
      lone: LoneDecode(
        configuration: configuration, admission: resources.admission, bodyMemory: resources.bodyMemory,
        helpers: resources.helpers, runner: runner),
      monitor: monitor)
  }

  /// The same stages by the options of a request that comes now.
  func following(_ options: RequestOptions) -> PipelineStages {
    if options == RequestOptions() { return self }
    var configuration = configuration
    if let limit = options.maximumSourceBytes { configuration.maximumSourceBytes = limit }
    if let limit = options.maximumPixels { configuration.maximumPixels = limit }
    if let mode = options.cacheMode { configuration.cacheMode = mode }
    return PipelineStages(configuration, sharing: resources)
  }

  var monitor: PipelineMonitor { resources.monitor }
  var cache: ThumbnailCache { resources.cache }
  var downloader: Downloader { resources.downloader }
  /// Runs all decodes.
  var runner: DecodeRunner { resources.runner }
  /// Why the disk cache could not be opened.
  var openingProblem: DiskCacheError? { resources.openingProblem }
  /// The part of the memory budget in use, by bodies and decodes.
  var bytesInFlight: Int { resources.bodyMemory.used + runner.memory.used }

  /// How the bytes of a source are loaded: this alone distinguishes the kinds of sources.
  func loader(of source: ImageSource) -> any BodyLoader { source.isUserFile ? files : http }

  /// Judges whether stored thumbnails of a source are current. Nil if they never become stale: a file that was modified
  /// is another image.
  func revalidator(of source: ImageSource) -> Revalidator? { source.isUserFile ? nil : revalidator }

  /// What the caches have for a job's variants, in one look-up.
  ///
  /// - Parameter lasts: Whether what is stored never becomes stale.
  func lookUp(
    _ variants: [Variant], lasts: Bool, inMemory: Set<Variant>, for job: JobContext
  ) async -> CacheLookup {
    // With nothing looked up, everything is missing, and nothing is known of the server.
    if configuration.cacheMode == .noStore { return CacheLookup() }
    return await cache.lookUp(
      variants, of: job.source.key, lasts: lasts, inMemory: inMemory, permit: job.permit, admittedBy: rule,
      priority: job.priority)
  }
}
