import Foundation
import HTTPSemantics
import ThumbnailCache
import ThumbnailCore

/// Failures that are remembered, so that a picture that is not to be had is not asked for again and again.
extension PipelineStages {
  /// Why nobody is asked for a source: offline nobody is, and a picture that was not to be had a while ago need not be.
  /// Nil where the server is to be asked.
  func refusal(of source: ImageSource, _ notes: SourceHistory) -> ThumbnailError? {
    if source.isUserFile { return nil }
    if configuration.cacheMode == .offline { return .notCached }
    let url = source.urlDigest
    guard let failure = notes.failures.first(where: { $0.url == url }) else { return nil }
    if !configuration.retriesFailures, failure.isBelieved(at: configuration.now()),
      let error = ThumbnailError(remembered: failure, limits: refusingLimits)
    {
      events.send(source, .rememberedFailure(code: failure.code, until: failure.until))
      return error
    }
    cache.forgive(url, of: source.key)
    return nil
  }

  /// Notes what a server has answered, where that will be the same the next time. That something else came in the place of
  /// a picture that was there before will not: so do networks that want a login, and servers that are being repaired.
  ///
  /// - Parameter end: Until when the server lets it be kept; nil where it has not said. It may be shorter than our own time,
  ///   but not longer.
  func remember(
    _ error: ThumbnailError, of source: ImageSource, _ notes: SourceHistory, end: Date?, permit: StorePermit
  ) {
    guard !source.isUserFile, let lifetime = error.lifetime else { return }
    if case .notAPicture = error, source.knownAnswer(in: notes) != nil { return }
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
  /// For how long the failure is believed without asking again, in seconds. Nil for what may be otherwise the next time:
  /// a server that is down or refuses, a network that is not there, a decoder that is missing.
  var lifetime: Double? {
    switch self {
    // The page at which a public network asks for a login is no picture, either: an hour, not longer.
    case .notFound, .notAPicture: 3600
    case .tooLarge: 86_400
    default: nil
    }
  }

  /// What a remembered failure was; nil when it is not to be believed under these limits.
  fileprivate init?(remembered failure: RememberedFailure, limits: RememberedFailure.Limits) {
    let reason =
      "\(failure.reason) (remembered until \(HTTPDate.text(failure.until)); retriesFailures or --retry-failed tries again)"
    switch failure.code {
    case "not-found": self = .notFound(reason: reason)
    case "not-a-picture": self = .notAPicture(reason: reason)
    case "too-large" where !failure.limits.admitLess(than: limits): self = .tooLarge(reason: reason)
    default: return nil
    }
  }
}
