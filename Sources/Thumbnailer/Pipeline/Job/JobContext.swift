import Foundation
import ImageCodec
import Synchronization
import ThumbnailCache
import ThumbnailCore

/// The properties of a job that all stages use.
final class JobContext: Sendable {
  let source: ImageSource
  /// The policy of its requests.
  let policy: JobPolicy
  /// The highest priority of the job's waiters, which may change at any time.
  let priority: PriorityControl
  /// The variants with waiters, readable at any time from any thread; updated together with the job table.
  let demand: VariantDemand
  /// The progress of the body's transfer.
  let progress: BodyProgress
  /// Permits storing the job's thumbnails, until the image is removed.
  let permit: StorePermit
  /// The clients whose requests have joined the job. They stay when the requests leave.
  private let joined = Mutex<Set<String>>([])

  init(
    _ source: ImageSource, policy: JobPolicy = JobPolicy(), priority: PriorityControl, demand: Set<Variant> = []
  ) {
    self.source = source
    self.policy = policy
    self.priority = priority
    self.demand = VariantDemand(demand)
    progress = BodyProgress()
    permit = StorePermit()
  }

  /// The clients whose requests have joined the job. It may be decoded in the turn of any of them. Empty if no request
  /// names a client.
  var clients: Set<String> { joined.withLock(\.self) }

  /// Adds the demands of a request that starts or joins the job.
  func add(_ request: ThumbnailRequest) {
    demand.insert(request.variant)
    if let client = request.client { _ = joined.withLock { $0.insert(client) } }
  }
}

/// The policy for all requests of one job: the pipeline's configuration, overridden by their `RequestOptions`.
struct JobPolicy: Sendable {
  /// The options of the requests.
  private(set) var options = RequestOptions()
  private(set) var cacheMode = CacheMode.standard
  /// Decides what may be used without revalidation.
  private(set) var rule = ReuseRule()
  private(set) var limits = DecodeLimits()

  /// Whether the caches are neither read nor changed.
  var bypassesCaches: Bool { cacheMode == .noStore }
}

extension JobPolicy {
  /// The policy of a pipeline's configuration, with the rule of its caches.
  init(_ configuration: ThumbnailPipeline.Configuration, rule: ReuseRule) {
    cacheMode = configuration.cacheMode
    self.rule = rule
    limits = DecodeLimits(
      maximumPixels: configuration.maximumPixels, maximumBytes: configuration.maximumSourceBytes.bytes)
  }

  /// The policy for requests that arrive now with these options.
  func following(_ options: RequestOptions, now: @escaping @Sendable () -> Date) -> JobPolicy {
    var policy = self
    policy.options = options
    if let limit = options.maximumSourceBytes { policy.limits.maximumBytes = limit.bytes }
    if let limit = options.maximumPixels { policy.limits.maximumPixels = limit }
    if let mode = options.cacheMode {
      policy.cacheMode = mode
      policy.rule = ReuseRule(mode, now: now)
    }
    return policy
  }
}
