import Foundation
import HTTPSemantics
import HTTPTransport
import ImageCodec
import ThumbnailCache
import ThumbnailCore

/// Whether what is stored of a picture is still what its server has.
extension PipelineStages {
  /// A thumbnail from the caches.
  struct FoundThumbnail: Sendable {
    let variant: Variant
    var stored: DatedThumbnail
    /// Whether it was made from a larger one, and is not stored itself yet.
    let isShrunk: Bool
    /// Whether it may be used without asking the server.
    let isFresh: Bool

    /// The answer to whoever waits for it.
    func response(origin: ThumbnailResponse.Origin, isStored: Bool = true) -> ThumbnailResponse {
      ThumbnailResponse(thumbnail: stored.thumbnail, origin: origin, isStored: isStored, duration: .zero)
    }
  }

  /// What the caches hold of a variant, exactly or in a larger size.
  func storedThumbnail(
    _ variant: Variant, of source: ImageSource, keepsInMemory: Bool, permit: StorePermit, priority: PriorityControl
  ) async -> FoundThumbnail? {
    let key = CacheKey(source: source.key, variant: variant)
    if let stored = await cache.storedThumbnail(
      for: key, lasts: source.isUserFile, priority: priority, keepsInMemory: keepsInMemory, permit: permit)
    {
      return FoundThumbnail(
        variant: variant, stored: stored, isShrunk: false, isFresh: cache.rule.admits(stored.freshness))
    }
    guard let shrunk = await shrunkFromCache(key, of: source, priority: priority) else { return nil }
    return FoundThumbnail(
      variant: variant, stored: shrunk, isShrunk: true, isFresh: cache.rule.admits(shrunk.freshness))
  }

  /// What is known of a picture besides its thumbnails; nothing of a local file, which nobody is asked for.
  func notes(of source: ImageSource, priority: PriorityControl) async -> SourceHistory {
    source.isUserFile ? SourceHistory() : await cache.notes(of: source.key, priority: priority)
  }

  /// What a server says when it is asked whether a picture has changed.
  enum Revalidation {
    /// It has not, which the caches know by then. They keep nothing of it if the server forbids that from now on.
    case unchanged(isKept: Bool)
    /// It has: this is the picture as it is now.
    case changed(SourceBody)
  }

  /// Asks the server whether the picture is still the one whose thumbnails are stored.
  ///
  /// - Parameter canWait: Whether what is stored stands in for the moment: then a server that is down is not asked again.
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
      // It says that another body than ours has not changed: a mistake of the server's, or of a cache before it.
      (body, download) = try await self.download(
        source, demand: demand, mayUsePreview: mayUsePreview, priority: priority, progress: progress)
    }
    guard download.isUnchanged else {
      body.mayUsePreview = mayUsePreview
      return .changed(body)
    }
    return .unchanged(isKept: confirm(known, by: download, of: source, permit: permit))
  }

  /// Tells the caches that what is stored still holds. Returns whether they may keep it.
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

  /// What a server said with a body.
  func answer(_ download: Download, from place: URL) -> StoredResponse {
    let metadata = ResponseMetadata(download.headers)
    return StoredResponse(
      url: place.digest, address: download.address, metadata: metadata,
      length: download.expectedBytes, freshness: freshness(of: metadata, download))
  }

  private func freshness(of metadata: ResponseMetadata, _ download: Download) -> Freshness {
    // The age counts from when the answer was asked for. That this counts its body's time as well errs on the safe side.
    metadata.freshness(
      download.headers, receivedAt: configuration.now(), delay: download.duration / .seconds(1))
  }

  /// Whether thumbnails that are out of date may stand in, since the server could not be asked.
  ///
  /// So it is when it could not be reached, or answered that it fails (5xx) or is asked too often (429), unless it has
  /// forbidden that, or the user wants to know.
  func mayServeStale(_ notes: SourceHistory, after error: ThumbnailError) -> Bool {
    if configuration.cacheMode == .refresh { return false }
    let controls = notes.answers.map(\.metadata.control)
    if controls.contains(where: { $0.forbidsStale || $0.asksEveryTime }) { return false }
    switch error {
    case .unreachable, .hostClosed, .timedOut: return true
    case .serverFailed, .rateLimited:
      guard let most = controls.compactMap(\.staleIfError).min() else { return true }
      return configuration.now() < notes.freshness(by: cache.rule).expires.addingTimeInterval(most)
    default: return false
    }
  }
}

extension PipelineStages {
  /// Whether thumbnails that are out of date may be handed out at once and asked about behind, since the server allows that
  /// and the user has said nothing else.
  func mayServeWhileRevalidating(_ source: ImageSource, priority: PriorityControl) async -> Bool {
    guard configuration.cacheMode == .standard, !source.isUserFile else { return false }
    return await notes(of: source, priority: priority).mayServeWhileRevalidating(at: configuration.now())
  }
}

extension SourceHistory {
  /// Whether a server allows to use thumbnails that are out of date while it is asked (`stale-while-revalidate`), and none
  /// forbids it.
  func mayServeWhileRevalidating(at now: Date) -> Bool {
    let controls = answers.map(\.metadata.control)
    if controls.contains(where: { $0.forbidsStale || $0.asksEveryTime || $0.forbidsStoring }) { return false }
    return zip(answers, controls).contains { answer, control in
      guard let allowed = control.staleWhileRevalidate, !answer.metadata.variesByAnything else { return false }
      let freshness = answer.freshness
      return freshness.confirmed.hasCome(by: now) && now < freshness.expires.addingTimeInterval(allowed)
    }
  }

  /// Whether the thumbnails that are stored are of what the picture was before a body came, which was asked for without a
  /// condition: its URL names another body now, or names none and they are not fresh.
  func areOutdated(by answer: StoredResponse?, isFresh: Bool) -> Bool {
    guard let answer, !answers.isEmpty else { return false }
    guard let known = answer.url.flatMap({ self.answer(of: $0) }) else { return !isFresh }
    if known.namesSameBody(as: answer) { return false }
    // Who names no bodies cannot say that they differ.
    let isNamed = [known, answer].contains { $0.metadata.etag != nil || $0.metadata.lastModified != nil }
    return isNamed || !isFresh
  }
}

extension ImageSource {
  /// The digest of the URL that is asked first.
  var urlDigest: SourceKey { url.digest }

  /// What one of its places is known to have answered, the first of them.
  func knownAnswer(in notes: SourceHistory) -> StoredResponse? {
    places.lazy.compactMap { notes.answer(of: $0.digest) }.first
  }
}

extension URL {
  /// The URL in a form that can be stored: the forms of one picture differ in it.
  fileprivate var digest: SourceKey { SourceKey(identity: absoluteString, headers: []) }
}
