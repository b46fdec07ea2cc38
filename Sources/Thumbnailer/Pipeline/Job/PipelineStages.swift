import Foundation
import HTTPSemantics
import HTTPTransport
import ThumbnailCache
import ThumbnailCore

/// The stages of a pipeline. Connects caches, transport and codec, which do not depend on each other.
final class PipelineStages: Sendable {
  let configuration: ThumbnailPipeline.Configuration
  let monitor: PipelineMonitor
  let cache: ThumbnailCache
  /// The policy of requests without their own options.
  private let policy: JobPolicy
  /// The share of the memory budget for all bodies together.
  let bodyMemory: WeightedSemaphore
  let downloader: Downloader
  let http: HTTPLoader
  let files: FileLoader
  private let programs: ProgramLoader
  private let revalidator: Revalidator
  let storedThumbnails: StoredThumbnails
  let renderer: Renderer
  let store: ThumbnailStore
  /// Runs all decodes.
  let runner: DecodeRunner
  /// Why the disk cache could not be opened.
  let openingProblem: DiskCacheError?

  init(_ configuration: ThumbnailPipeline.Configuration) {
    self.configuration = configuration
    let monitor = PipelineMonitor()
    self.monitor = monitor
    let budget = configuration.budget
    bodyMemory = WeightedSemaphore(capacity: budget.bodyShare)
    runner = DecodeRunner(configuration, bodyMemory: bodyMemory, monitor: monitor)
    (cache, openingProblem) = Self.openCache(configuration, monitor)
    policy = JobPolicy(configuration, rule: cache.rule)

    var download = DownloadConfiguration(configuration, memoryBodyLimit: budget.bodyLimit)
    download.onHostPause = { pause in
      monitor.send(
        nil,
        .hostPaused(
          host: pause.host, duration: pause.duration, failure: pause.failure, isWaitedFor: pause.isWaitedFor))
    }
    downloader = Downloader(download, bodyMemory: bodyMemory, spillMemory: runner.memory)
    // Otherwise files that are too old or beyond a lowered limit would stay until the next large download.
    if let store = download.partialBodies { PartialStore.onThread { store.tidy() } }
    http = HTTPLoader(
      configuration, decodeShare: budget.decodeShare, downloader: downloader, runner: runner, monitor: monitor)
    files = FileLoader(configuration, monitor: monitor)
    programs = ProgramLoader(
      configuration, decodeShare: budget.decodeShare, bodyMemory: bodyMemory, downloader: downloader, files: files,
      monitor: monitor)

    let failures = CachedFailures(
      configuration, cache: cache, monitor: monitor,
      memoryLimit: max(configuration.memoryBudget.bytes, runner.admission.most))
    revalidator = Revalidator(
      configuration, http: http, cache: cache, failures: failures, monitor: monitor)
    storedThumbnails = StoredThumbnails(limits: policy.limits, runner: runner)
    store = ThumbnailStore(configuration, cache: cache, monitor: monitor)
    renderer = Renderer(runner, monitor: monitor)
  }

  /// The policy for requests that arrive now with these options.
  func policy(for options: RequestOptions) -> JobPolicy {
    options == RequestOptions() ? policy : policy.following(options, now: configuration.now)
  }

  /// The loader of a source's bytes. Only this distinguishes the kinds of sources.
  func loader(of source: ImageSource) -> any BodyLoader {
    switch source.origin {
    case .web: http
    case .userFile: files
    case .loader: programs
    }
  }

  /// The revalidator of a source's stored thumbnails. Nil if they never become stale: a modified file is another image,
  /// and a program's loader names its versions.
  func revalidator(of source: ImageSource) -> Revalidator? { if case .web = source.origin { revalidator } else { nil } }

  private static func openCache(
    _ configuration: ThumbnailPipeline.Configuration, _ monitor: PipelineMonitor
  ) -> (ThumbnailCache, problem: DiskCacheError?) {
    var disk: DiskCache?
    var problem: DiskCacheError?
    if configuration.diskCacheLimit.bytes > 0 {
      do throws(DiskCacheError) {
        disk = try DiskCache(
          directory: configuration.cacheDirectory, byteLimit: configuration.diskCacheLimit.bytes,
          onCommit: { monitor.send(nil, .committed(changes: $0, duration: $1)) })
      } catch {
        problem = error
        Log.pipeline.warning("\(error)")
      }
    }
    let rule = ReuseRule(configuration.cacheMode, now: configuration.now)
    let memory = MemoryCache(byteLimit: configuration.memoryCacheLimit.bytes)
    let cache = ThumbnailCache(memory: memory, disk: disk, rule: rule) {
      monitor.send(nil, .cacheProblem("\($0)"))
    }
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
    program = "thumbs/\(ThumbnailPipeline.version)"
    self.memoryBodyLimit = memoryBodyLimit
    spillDirectory = pipeline.cacheDirectory
    certificateAuthorityFile = pipeline.certificateAuthorityFile
    objectStorage = pipeline.objectStorage
    proxy = pipeline.proxy
    addresses = pipeline.addresses
    optOut = OptOut(pipeline.disallowedDirectives)
    clientCertificates = pipeline.clientCertificates
    ledger = HostFile(directory: pipeline.diskCacheLimit.bytes > 0 ? pipeline.cacheDirectory : nil)
    if pipeline.partialDownloadLimit.bytes > 0 {
      partialBodies = PartialStore(
        directory: ThumbnailPipeline.Configuration.partialDownloads(in: pipeline.cacheDirectory),
        byteLimit: pipeline.partialDownloadLimit.bytes)
    }
  }
}
