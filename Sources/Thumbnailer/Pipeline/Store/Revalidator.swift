import Foundation
import HTTPSemantics
import HTTPTransport
import ThumbnailCache
import ThumbnailCore

/// Finds out whether the stored thumbnails of an image on the web are current: by conditional requests, and by the
/// rules of the server's responses.
final class Revalidator: Sendable {
  let configuration: ThumbnailPipeline.Configuration
  let http: HTTPLoader
  let cache: ThumbnailCache
  let failures: CachedFailures
  let monitor: PipelineMonitor

  init(
    _ configuration: ThumbnailPipeline.Configuration, http: HTTPLoader, cache: ThumbnailCache,
    failures: CachedFailures, monitor: PipelineMonitor
  ) {
    (self.configuration, self.http, self.cache) = (configuration, http, cache)
    (self.failures, self.monitor) = (failures, monitor)
  }

  /// The result of a conditional request.
  enum Outcome {
    /// Not modified; the caches are updated already. They keep nothing if the server now forbids storing.
    case unchanged(isKept: Bool)
    /// Modified: the body is the new image.
    case changed(SourceBody)
  }

  /// Revalidates the stored thumbnails of an image with a conditional request. With a stale thumbnail to serve, a
  /// failed request is not retried; without one, the usual attempts apply.
  func revalidate(
    _ known: StoredResponse, in history: SourceHistory, for job: JobContext
  ) async throws(FetchFailure) -> Outcome {
    var request = HTTPLoader.BodyRequest(demand: job.demand, previews: configuration.previews)
    request.condition = DownloadCondition(address: known.address, headers: known.metadata.conditions)
    request.mayRepeat = !mayServeStale(history, after: .serverFailed(status: 503), for: job)
    var (body, download) = try await http.download(request, for: job)
    if download.isUnchanged, !known.metadata.isConfirmed(by: download.headers) {
      // A 304 with another validator than ours is a mistake of the server or of an intermediate cache. Request it
      // without a condition.
      (request.condition, request.mayRepeat) = (nil, true)
      (body, download) = try await http.download(request, for: job)
    }
    if download.isUnchanged { return .unchanged(isKept: confirm(known, by: download, for: job)) }
    reportReplacement(of: job.source)
    return .changed(body)
  }

  /// Updates the caches after a 304. Returns whether they may keep the thumbnails.
  private func confirm(_ known: StoredResponse, by download: Download, for job: JobContext) -> Bool {
    var confirmed = known
    confirmed.metadata = known.metadata.updated(by: download.headers)
    confirmed.freshness = download.freshness(of: confirmed.metadata, receivedAt: configuration.now())
    monitor.add(1, to: \.revalidations)
    monitor.send(job.source, .revalidated(duration: download.duration))
    if confirmed.metadata.control.forbidsStoring {
      cache.forget(job.source.key, permit: job.permit)
      return false
    }
    cache.confirm(confirmed, insteadOf: known.metadata, of: job.source.key, permit: job.permit)
    return true
  }

  /// The replacement of stored thumbnails by those from the body of an unconditional request.
  ///
  /// - Parameter history: The history at the last look-up. Another process may store an earlier version after it; that
  ///   is noticed when the new thumbnails are stored.
  func replacement(by body: SourceBody, _ history: SourceHistory, for job: JobContext) -> Replacement {
    if job.policy.bypassesCaches { return .none }
    let rule = job.policy.rule
    guard cache.updated(history, of: job.source.key).isOutdated(by: body.response, rule: rule) else {
      return .ifOutdated(by: rule) { [self, source = job.source] in reportReplacement(of: source) }
    }
    reportReplacement(of: job.source)
    return .all
  }

  private func reportReplacement(of source: ImageSource) {
    monitor.add(1, to: \.replacements)
    monitor.send(source, .replaced)
  }

  /// Whether stale thumbnails may be served because their server failed.
  ///
  /// True if it is unreachable or has returned 5xx or 429, unless the server forbids it or the user requires
  /// revalidation.
  func mayServeStale(_ history: SourceHistory, after error: ThumbnailError, for job: JobContext) -> Bool {
    if job.policy.cacheMode == .refresh || history.requiresRevalidation { return false }
    switch error {
    case .unreachable, .hostClosed, .timedOut: return true
    case .serverFailed, .rateLimited:
      guard let most = history.responses.compactMap(\.metadata.control.staleIfError).min() else { return true }
      return configuration.now() < history.freshness(by: job.policy.rule).expires.addingTimeInterval(most)
    default: return false
    }
  }

  /// Whether stale thumbnails may be served at once and revalidated in the background: if the server allows it and the
  /// user has not chosen another cache mode.
  func mayServeWhileRevalidating(_ history: SourceHistory, for job: JobContext) -> Bool {
    job.policy.cacheMode == .standard && history.mayServeWhileRevalidating(at: configuration.now())
  }
}

extension StoredResponse {
  /// The metadata of the response that brought a body.
  init(_ download: Download, of source: ImageSource, from url: URL, receivedAt now: Date) {
    let metadata = ResponseMetadata(download.headers)
    let digest = source.digest(of: url)
    self.init(
      url: digest, address: download.finalDigest(requested: url, digest: digest), metadata: metadata,
      length: download.expectedBytes,
      freshness: download.freshness(of: metadata, receivedAt: now))
  }
}

extension Download {
  fileprivate func freshness(of metadata: ResponseMetadata, receivedAt now: Date) -> Freshness {
    // The response delay counts from the request. It includes the body's transfer, so the age is rather too high.
    metadata.freshness(headers, receivedAt: now, delay: duration / .seconds(1))
  }
}

extension SourceHistory {
  /// Whether a server forbids serving stale thumbnails in any case.
  fileprivate var requiresRevalidation: Bool {
    responses.map(\.metadata.control).contains { $0.mustRevalidate || $0.requiresRevalidation }
  }

  /// Whether a server allows stale thumbnails during revalidation (`stale-while-revalidate`), and none forbids them.
  func mayServeWhileRevalidating(at now: Date) -> Bool {
    if requiresRevalidation || responses.contains(where: \.metadata.control.forbidsStoring) { return false }
    return responses.contains { response in
      guard let allowed = response.metadata.control.staleWhileRevalidate, !response.metadata.variesByAnything else {
        return false
      }
      let freshness = response.freshness
      return freshness.confirmed.hasPassed(by: now) && now < freshness.expires.addingTimeInterval(allowed)
    }
  }
}

extension ImageSource {
  /// The stored response of the first of the source's URLs that has one.
  func knownResponse(in history: SourceHistory) -> StoredResponse? {
    urls.lazy.compactMap { history.response(of: digest(of: $0)) }.first
  }
}
