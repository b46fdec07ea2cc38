import DecodeSandbox
import HTTPTransport
import ImageCodec
import ThumbnailCache
import ThumbnailCore

/// What all jobs of a pipeline share, whatever the options of their requests: caches, transport, memory and threads.
final class PipelineResources: Sendable {
  let monitor = PipelineMonitor()
  let cache: ThumbnailCache
  let downloader: Downloader
  /// Runs all decodes.
  let runner: DecodeRunner
  /// The share of the memory budget for bodies.
  let bodyMemory: WeightedSemaphore
  /// Limits the local files that are open at once.
  let openFiles = WeightedSemaphore(capacity: 64)
  /// Decides where decodes run that do not fit into their budget.
  let admission: DecodeAdmission
  /// The helper processes; nil if everything is decoded in process.
  let helpers: HelperPool?
  /// Where the helpers' memory comes from.
  let helperMemory: HelperMemory
  /// Why the disk cache could not be opened.
  let openingProblem: DiskCacheError?

  init(_ configuration: ThumbnailPipeline.Configuration) {
    let monitor = monitor
    let budget = MemoryBudget(
      total: configuration.memoryBudget.bytes, downloads: configuration.downloads, jobs: configuration.jobs)
    bodyMemory = WeightedSemaphore(capacity: budget.bodyShare)
    runner = DecodeRunner(
      memory: WeightedSemaphore(capacity: budget.decodeShare),
      workers: WorkerPool(name: "thumbnailer.codec", threads: configuration.jobs) { Codec.threadWillEnd() },
      monitor: monitor)
    (cache, openingProblem) = Self.openCache(configuration, monitor)

    var download = DownloadConfiguration(configuration, memoryBodyLimit: budget.bodyLimit)
    download.onHostPause = { pause in
      monitor.send(
        nil,
        .hostPaused(
          host: pause.host, duration: pause.duration, failure: pause.failure, isWaitedFor: pause.isWaitedFor))
    }
    downloader = Downloader(download, bodyMemory: bodyMemory, spillMemory: runner.memory)
    // Otherwise files that are too old, or beyond a limit that was lowered, would stay until the next large download.
    if let store = download.partialBodies { PartialStore.onThread { store.tidy() } }

    admission = DecodeAdmission(configuration, budget: budget)
    helpers = configuration.isolation.executable == nil ? nil : HelperPool(configuration.isolation)
    helperMemory = HelperMemory(configuration, budget: budget, cgroupLimit: Cgroup.memoryLimit())
  }

  private static func openCache(
    _ configuration: ThumbnailPipeline.Configuration, _ monitor: PipelineMonitor
  ) -> (ThumbnailCache, problem: DiskCacheError?) {
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
    let rule = FreshnessRule(configuration.cacheMode, now: configuration.now)
    let memory = MemoryCache(byteLimit: configuration.memoryCacheLimit.bytes, rule: rule)
    let cache = ThumbnailCache(memory: memory, disk: disk, rule: rule) { monitor.send(nil, .cacheProblem("\($0)")) }
    return (cache, problem)
  }
}

extension DownloadConfiguration {
  /// The settings of the transport.
  fileprivate init(_ pipeline: ThumbnailPipeline.Configuration, memoryBodyLimit: Int) {
    self.init()
    maximumDownloads = pipeline.downloads
    maximumDownloadsPerHost = pipeline.downloadsPerHost
    silence = pipeline.silence
    connectTimeout = pipeline.connectTimeout
    stallTimeout = pipeline.stallTimeout
    totalTimeout = pipeline.totalTimeout
    retry.maximumAttempts = pipeline.attempts
    maximumWait = pipeline.maximumWait
    hosts = pipeline.hosts
    minimumRate = pipeline.minimumRate.bytes
    userAgent = pipeline.userAgent
    self.memoryBodyLimit = memoryBodyLimit
    spillDirectory = pipeline.cacheDirectory
    certificateAuthorityFile = pipeline.certificateAuthorityFile
    proxy = pipeline.proxy
    clientCertificates = pipeline.clientCertificates
    ledger = HostFile(directory: pipeline.diskCacheLimit.bytes > 0 ? pipeline.cacheDirectory : nil)
    if pipeline.partialDownloadLimit.bytes > 0 {
      partialBodies = PartialStore(
        directory: ThumbnailPipeline.Configuration.partialDownloads(in: pipeline.cacheDirectory),
        byteLimit: pipeline.partialDownloadLimit.bytes)
    }
  }
}
