import Foundation
import ImageCodec
import Synchronization
import ThumbnailCache
import ThumbnailCore

/// What every stage needs to know of the job that it works for.
final class JobContext: Sendable {
  let source: ImageSource
  /// What holds for its requests.
  let policy: JobPolicy
  /// The highest priority of the job's waiters, which may change at any time.
  let priority: PriorityControl
  /// The variants with waiters, readable at any time from any thread; updated together with the job table.
  let demand: VariantDemand
  /// How much of the body has arrived.
  let progress: BodyProgress
  /// Permits storing what the job makes, until the image is removed.
  let permit: StorePermit
  /// What requests demand besides variants, also if they have left meanwhile.
  private let extras = Mutex((makesMicroThumbnails: false, clients: Set<String>()))

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

  /// Whether a waiter has requested micro thumbnails.
  var makesMicroThumbnails: Bool { extras.withLock { $0.makesMicroThumbnails } }

  /// The clients whose requests have joined the job, any of which may have it decoded; empty: nobody's.
  var clients: Set<String> { extras.withLock { $0.clients } }

  /// Adds what a request demands that joins the job or starts it.
  func add(_ request: ThumbnailRequest) {
    demand.insert(request.variant)
    guard request.makesMicroThumbnail || request.client != nil else { return }
    extras.withLock { extras in
      if request.makesMicroThumbnail { extras.makesMicroThumbnails = true }
      if let client = request.client { extras.clients.insert(client) }
    }
  }
}

/// What holds for all requests of one job: what the pipeline is configured for, except where they want otherwise.
struct JobPolicy: Sendable {
  /// What the requests want otherwise.
  private(set) var options = RequestOptions()
  private(set) var cacheMode = CacheMode.standard
  /// Decides what may be used without revalidation.
  private(set) var rule = FreshnessRule()
  private(set) var limits = DecodeLimits()

  /// Whether the caches are neither read nor changed.
  var bypassesCaches: Bool { cacheMode == .noStore }
}

extension JobPolicy {
  /// What a pipeline is configured for, with the rule of its caches.
  init(_ configuration: ThumbnailPipeline.Configuration, rule: FreshnessRule) {
    cacheMode = configuration.cacheMode
    self.rule = rule
    limits = DecodeLimits(
      maximumPixels: configuration.maximumPixels, maximumBytes: configuration.maximumSourceBytes.bytes)
  }

  /// The policy for requests with these options that come now.
  func following(_ options: RequestOptions, now: @escaping @Sendable () -> Date) -> JobPolicy {
    var policy = self
    policy.options = options
    if let limit = options.maximumSourceBytes { policy.limits.maximumBytes = limit.bytes }
    if let limit = options.maximumPixels { policy.limits.maximumPixels = limit }
    if let mode = options.cacheMode {
      policy.cacheMode = mode
      policy.rule = FreshnessRule(mode, now: now)
    }
    return policy
  }
}
