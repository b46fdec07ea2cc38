import Foundation
import ImageCodec
import ThumbnailCache
import ThumbnailCore

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
