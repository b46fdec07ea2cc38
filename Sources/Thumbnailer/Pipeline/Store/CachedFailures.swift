import Foundation
import HTTPSemantics
import ThumbnailCache

/// The cache of failures, which avoids requesting an unavailable image again and again.
final class CachedFailures: Sendable {
  let configuration: ThumbnailPipeline.Configuration
  let cache: ThumbnailCache
  let monitor: PipelineMonitor
  /// The most bytes of any decode.
  let memoryLimit: Int

  init(
    _ configuration: ThumbnailPipeline.Configuration, cache: ThumbnailCache, monitor: PipelineMonitor,
    memoryLimit: Int
  ) {
    (self.configuration, self.cache, self.monitor) = (configuration, cache, monitor)
    self.memoryLimit = memoryLimit
  }

  /// The reason why no request is sent for a source: offline mode, or a cached failure. Nil if a request may be sent.
  func refusal(for job: JobContext, _ history: SourceHistory) -> ThumbnailError? {
    if job.policy.cacheMode == .offline { return .notCached }
    let source = job.source
    let url = source.digest(of: source.url)
    guard let failure = history.failures.first(where: { $0.url == url }) else { return nil }
    if !configuration.retriesFailures, failure.isValid(at: configuration.now()),
      let error = ThumbnailError(remembered: failure, limits: limits(of: job))
    {
      monitor.send(source, .rememberedFailure(code: failure.code, until: failure.until))
      return error
    }
    cache.forgive(url, of: source.key)
    return nil
  }

  /// Caches a failure that is likely to repeat, and removes the stored thumbnails of an image that is gone. If a known
  /// image's URL returns something other than an image, that is not cached: captive portals and servers under
  /// maintenance send such responses.
  ///
  /// - Parameter end: The time until which the response is cacheable; nil if the server does not state it. It can
  ///   shorten our own lifetime, but not extend it.
  func remember(_ error: ThumbnailError, _ history: SourceHistory, end: Date?, for job: JobContext) {
    guard !job.policy.bypassesCaches, let lifetime = error.lifetime else { return }
    let source = job.source
    let isKnown = source.knownResponse(in: history) != nil
    if case .notFound = error, isKnown { cache.forget(source.key, permit: job.permit) }
    if isKnown, error.isNoPicture { return }
    let now = configuration.now()
    let until = min(now.addingTimeInterval(lifetime), end ?? .distantFuture)
    guard now < until else { return }
    let failure = RememberedFailure(
      url: source.digest(of: source.url), code: error.code, reason: String(error.message.prefix(500)),
      limits: limits(of: job), noted: now, until: until)
    cache.remember(failure, of: source.key, permit: job.permit)
  }

  /// The limits of a job: a cached failure because of lower limits does not apply.
  private func limits(of job: JobContext) -> RememberedFailure.Limits {
    .init(bytes: job.policy.limits.maximumBytes, pixels: job.policy.limits.maximumPixels, memory: memoryLimit)
  }
}

extension ThumbnailError {
  /// The lifetime of a cached failure, in seconds. Nil for failures that may be different next time: a server that is
  /// down or refuses, no network, a missing decoder.
  var lifetime: Double? {
    switch self {
    // The login page of a captive portal is no image either, so an hour at most.
    case .notFound, .notAPicture, .video: 3600
    case .tooLarge, .noPreview: 86_400
    default: nil
    }
  }

  /// Whether the response was something other than an image.
  fileprivate var isNoPicture: Bool {
    switch self {
    case .notAPicture, .video: true
    default: false
    }
  }

  /// The error of a cached failure; nil if it does not apply under these limits.
  fileprivate init?(remembered failure: RememberedFailure, limits: RememberedFailure.Limits) {
    let reason =
      "\(failure.reason) (remembered until \(HTTPDate.text(failure.until))); to request it now, ignore remembered "
      + "failures (retriesFailures)"
    switch failure.code {
    case "not-found": self = .notFound(reason: reason)
    case "not-a-picture": self = .notAPicture(reason: reason)
    case "video": self = .video(reason: reason)
    case "raw-without-preview": self = .noPreview(reason: reason)
    case "too-large" where !failure.limits.admitLess(than: limits): self = .tooLarge(reason: reason)
    default: return nil
    }
  }
}
