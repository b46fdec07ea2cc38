import Foundation
import HTTPSemantics
import HTTPTransport
import ImageCodec
import ThumbnailCache
import ThumbnailCore

/// Freshness and revalidation of stored thumbnails.
extension PipelineStages {
  /// A thumbnail from the caches.
  struct FoundThumbnail: Sendable {
    let variant: Variant
    var stored: DatedThumbnail
    /// Whether it was shrunk from a larger one, and is not stored itself yet.
    let isShrunk: Bool
    /// Whether it may be used without revalidation.
    let isFresh: Bool

    /// The response for its waiters.
    func response(origin: ThumbnailResponse.Origin, isStored: Bool = true) -> ThumbnailResponse {
      ThumbnailResponse(thumbnail: stored.thumbnail, origin: origin, isStored: isStored, duration: .zero)
    }
  }

  /// What the caches hold for these variants of a source.
  func lookUp(
    _ variants: [Variant], of source: ImageSource, inMemory: Set<Variant>, permit: StorePermit,
    priority: PriorityControl
  ) async -> CacheLookup {
    // With nothing looked up, everything is missing, and nothing is known of the server.
    if configuration.cacheMode == .noStore { return CacheLookup() }
    return await cache.lookUp(
      variants, of: source.key, lasts: source.isUserFile, inMemory: inMemory, permit: permit, admittedBy: rule,
      priority: priority)
  }

  /// The thumbnail that a hit leads to: as it is stored, or shrunk from a larger one. Nil when that cannot be shrunk.
  func thumbnail(
    _ variant: Variant, from hit: CacheLookup.Hit, of source: ImageSource, priority: PriorityControl
  ) async -> FoundThumbnail? {
    switch hit {
    case .exact(let stored):
      return FoundThumbnail(
        variant: variant, stored: stored, isShrunk: false, isFresh: rule.admits(stored.freshness))
    case .larger(_, let larger):
      guard let shrunk = await shrink(larger, to: variant, of: source, priority: priority) else { return nil }
      return FoundThumbnail(
        variant: variant, stored: shrunk, isShrunk: true, isFresh: rule.admits(shrunk.freshness))
    }
  }

  /// The stored history of a source: its responses and failures. Empty for a local file, which has no server.
  func history(of source: ImageSource, priority: PriorityControl) async -> SourceHistory {
    source.isUserFile || configuration.cacheMode == .noStore
      ? SourceHistory() : await cache.history(of: source.key, priority: priority)
  }

  /// The result of a conditional request.
  enum Revalidation {
    /// Not modified; the caches are updated already. They keep nothing if the server now forbids storing.
    case unchanged(isKept: Bool)
    /// Modified: the body is the new image.
    case changed(SourceBody)
  }

  /// Revalidates the stored thumbnails of an image with a conditional request.
  ///
  /// - Parameter canWait: Whether stale thumbnails may be served instead: then a failing server is not retried.
  func revalidate(
    _ source: ImageSource, known: StoredResponse, canWait: Bool, demand: VariantDemand, permit: StorePermit,
    priority: PriorityControl, progress: BodyProgress
  ) async throws(FetchFailure) -> Revalidation {
    progress.setComplete(false)
    defer { progress.setComplete(true) }
    let condition = DownloadCondition(address: known.address, headers: known.metadata.conditions)
    let mayUsePreview = configuration.previews
    var (body, download) = try await download(
      source, demand: demand, mayUsePreview: mayUsePreview, condition: condition, mayRepeat: !canWait,
      priority: priority, progress: progress)
    if download.isUnchanged, !known.metadata.isConfirmed(by: download.headers) {
      // A 304 with another validator than ours: a mistake of the server or of an intermediate cache. Fetch without a
      // condition.
      (body, download) = try await self.download(
        source, demand: demand, mayUsePreview: mayUsePreview, priority: priority, progress: progress)
    }
    guard download.isUnchanged else {
      body.mayUsePreview = mayUsePreview
      return .changed(body)
    }
    return .unchanged(isKept: confirm(known, by: download, of: source, permit: permit))
  }

  /// Updates the caches after a 304. Returns whether they may keep the thumbnails.
  private func confirm(
    _ known: StoredResponse, by download: Download, of source: ImageSource, permit: StorePermit
  ) -> Bool {
    var confirmed = known
    confirmed.metadata = known.metadata.updated(by: download.headers)
    confirmed.freshness = freshness(of: confirmed.metadata, download)
    statistics.add(1, to: \.revalidations)
    events.send(source, .revalidated(duration: download.duration))
    if confirmed.metadata.control.forbidsStoring {
      forgetThumbnails(of: source, permit: permit)
      return false
    }
    cache.confirm(confirmed, insteadOf: known.metadata, of: source.key, permit: permit)
    return true
  }

  /// The metadata of the response that brought a body.
  func storedResponse(_ download: Download, from place: URL) -> StoredResponse {
    let metadata = ResponseMetadata(download.headers)
    return StoredResponse(
      url: place.digest, address: download.address, metadata: metadata,
      length: download.expectedBytes, freshness: freshness(of: metadata, download))
  }

  private func freshness(of metadata: ResponseMetadata, _ download: Download) -> Freshness {
    // The response delay counts from the request. As it includes the body's transfer, the age is rather too high.
    metadata.freshness(
      download.headers, receivedAt: configuration.now(), delay: download.duration / .seconds(1))
  }

  /// Whether stale thumbnails may be served because their server could not be asked.
  ///
  /// True if it is unreachable or returned 5xx or 429, unless the server forbids it or the user requires revalidation.
  func mayServeStale(_ history: SourceHistory, after error: ThumbnailError) -> Bool {
    if configuration.cacheMode == .refresh { return false }
    let controls = history.responses.map(\.metadata.control)
    if controls.contains(where: { $0.mustRevalidate || $0.requiresRevalidation }) { return false }
    switch error {
    case .unreachable, .hostClosed, .timedOut: return true
    case .serverFailed, .rateLimited:
      guard let most = controls.compactMap(\.staleIfError).min() else { return true }
      return configuration.now() < history.freshness(by: rule).expires.addingTimeInterval(most)
    default: return false
    }
  }
}

extension PipelineStages {
  /// Whether stale thumbnails may be served at once and revalidated in the background: if the server allows it and the
  /// user has not chosen another cache mode.
  func mayServeWhileRevalidating(_ source: ImageSource, _ history: SourceHistory) -> Bool {
    configuration.cacheMode == .standard && !source.isUserFile
      && history.mayServeWhileRevalidating(at: configuration.now())
  }
}

extension SourceHistory {
  /// Whether a server allows serving stale thumbnails during revalidation (`stale-while-revalidate`), and none forbids
  /// it.
  func mayServeWhileRevalidating(at now: Date) -> Bool {
    let controls = responses.map(\.metadata.control)
    if controls.contains(where: { $0.mustRevalidate || $0.requiresRevalidation || $0.forbidsStoring }) { return false }
    return zip(responses, controls).contains { response, control in
      guard let allowed = control.staleWhileRevalidate, !response.metadata.variesByAnything else { return false }
      let freshness = response.freshness
      return freshness.confirmed.hasPassed(by: now) && now < freshness.expires.addingTimeInterval(allowed)
    }
  }
}

extension ImageSource {
  /// The digest of the primary URL.
  var urlDigest: SourceKey { url.digest }

  /// The stored response of the first of the source's URLs that has one.
  func knownResponse(in history: SourceHistory) -> StoredResponse? {
    places.lazy.compactMap { history.response(of: $0.digest) }.first
  }
}

extension URL {
  /// A storable digest of the URL, which distinguishes the server-side sizes of one image.
  fileprivate var digest: SourceKey { SourceKey(identity: absoluteString, headers: []) }
}
