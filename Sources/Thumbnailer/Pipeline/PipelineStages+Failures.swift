import Foundation
import HTTPSemantics
import ThumbnailCache
import ThumbnailCore

/// The cache of failures, which avoids requesting an unavailable image again and again.
extension PipelineStages {
  /// Why no request is sent for a source: in offline mode, or because of a cached failure. Nil if the server may be
  /// asked.
  func refusal(of source: ImageSource, _ history: SourceHistory) -> ThumbnailError? {
    if source.isUserFile { return nil }
    if configuration.cacheMode == .offline { return .notCached }
    let url = source.urlDigest
    guard let failure = history.failures.first(where: { $0.url == url }) else { return nil }
    if !configuration.retriesFailures, failure.isValid(at: configuration.now()),
      let error = ThumbnailError(remembered: failure, limits: refusingLimits)
    {
      events.send(source, .rememberedFailure(code: failure.code, until: failure.until))
      return error
    }
    cache.forgive(url, of: source.key)
    return nil
  }

  /// Caches a failure that is likely to be the same next time. A response that is no image in place of a known image is
  /// not cached: captive portals and servers under maintenance send such responses.
  ///
  /// - Parameter end: When the response stops being cacheable; nil if the server does not say. It can shorten our own
  ///   lifetime, but not extend it.
  func remember(
    _ error: ThumbnailError, of source: ImageSource, _ history: SourceHistory, end: Date?, permit: StorePermit
  ) {
    guard !source.isUserFile, configuration.cacheMode != .noStore, let lifetime = error.lifetime else { return }
    if case .notAPicture = error, source.knownResponse(in: history) != nil { return }
    let now = configuration.now()
    let until = min(now.addingTimeInterval(lifetime), end ?? .distantFuture)
    guard now < until else { return }
    let failure = RememberedFailure(
      url: source.urlDigest, code: error.code, reason: String(error.message.prefix(500)), limits: refusingLimits,
      noted: now, until: until)
    cache.remember(failure, of: source.key, permit: permit)
  }

  private var refusingLimits: RememberedFailure.Limits {
    RememberedFailure.Limits(
      bytes: configuration.maximumSourceBytes.bytes, pixels: configuration.maximumPixels,
      memory: max(configuration.memoryBudget.bytes, admission.most))
  }
}

extension ThumbnailError {
  /// How long the failure is cached, in seconds. Nil for what may be different next time: a server that is down or
  /// refuses, no network, a missing decoder.
  var lifetime: Double? {
    switch self {
    // The login page of a captive portal is no image either, so an hour at most.
    case .notFound, .notAPicture: 3600
    case .tooLarge: 86_400
    default: nil
    }
  }

  /// The error of a cached failure; nil if it does not apply under these limits.
  fileprivate init?(remembered failure: RememberedFailure, limits: RememberedFailure.Limits) {
    let reason =
      "\(failure.reason) (remembered until \(HTTPDate.text(failure.until))); try again all the same (retriesFailures)"
    switch failure.code {
    case "not-found": self = .notFound(reason: reason)
    case "not-a-picture": self = .notAPicture(reason: reason)
    case "too-large" where !failure.limits.admitLess(than: limits): self = .tooLarge(reason: reason)
    default: return nil
    }
  }
}
