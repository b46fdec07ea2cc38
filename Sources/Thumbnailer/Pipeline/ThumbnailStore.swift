import HTTPSemantics
import ThumbnailCache
import ThumbnailCore

/// Stores finished thumbnails in the caches.
struct ThumbnailStore: Sendable {
  let configuration: ThumbnailPipeline.Configuration
  let cache: ThumbnailCache
  let monitor: PipelineMonitor

  /// Stores thumbnails of an image; waits while the write-behind queue is full.
  ///
  /// - Parameters:
  ///   - inMemory: The variants that the memory cache keeps, too.
  ///   - replacing: What happens to the stored thumbnails of the image.
  /// - Returns: Whether the disk cache will have them, as far as is known now.
  func store(
    _ thumbnails: [CacheEntry], from body: SourceBody, inMemory: Set<Variant>, replacing: Replacement,
    for job: JobContext
  ) async -> Bool {
    guard !job.policy.bypassesCaches, let description = thumbnails.first?.thumbnail.source else { return false }
    guard body.mayBeStored else {
      // Also drops what was stored before the server forbade storing.
      if body.response?.metadata.control.forbidsStoring == true, await isOutdated(by: body, replacing, for: job) {
        cache.forget(job.source.key, permit: job.permit)
      }
      return false
    }
    var record = SourceRecord(job.source, description: description, fetchedAt: configuration.now())
    record.response = body.response
    record.freshness = body.response?.freshness ?? .lasting
    return await store(thumbnails, with: record, inMemory: inMemory, replacing: replacing, for: job)
  }

  /// Whether the stored thumbnails are of an earlier version than a body of which nothing will be stored.
  private func isOutdated(by body: SourceBody, _ replacing: Replacement, for job: JobContext) async -> Bool {
    switch replacing {
    case .none: return false
    case .all: return true
    case .ifOutdated(let rule, let report):
      let history = await cache.history(of: job.source.key, priority: job.priority)
      guard history.isOutdated(by: body.response, rule: rule) else { return false }
      report()
      return true
    }
  }

  /// Stores a thumbnail that was shrunk from a stored one and has its freshness. Returns whether the disk cache will
  /// have it.
  func store(shrunk: FoundThumbnail, inMemory: Set<Variant>, for job: JobContext) async -> Bool {
    let thumbnail = shrunk.stored.thumbnail
    var record = SourceRecord(job.source, description: thumbnail.source, fetchedAt: nil)
    record.freshness = shrunk.stored.freshness
    return await store(
      [CacheEntry(variant: shrunk.variant, thumbnail: thumbnail)], with: record, inMemory: inMemory,
      replacing: .none, for: job)
  }

  private func store(
    _ thumbnails: [CacheEntry], with record: SourceRecord, inMemory: Set<Variant>, replacing: Replacement,
    for job: JobContext
  ) async -> Bool {
    let whole = thumbnails.filter { !$0.thumbnail.isDamaged }
    // Damaged images stay out of the disk cache: unlike this pipeline, another user of it may not accept them.
    let damaged = thumbnails.filter { $0.thumbnail.isDamaged && inMemory.contains($0.variant) }
    cache.keepInMemory(damaged, of: record, permit: job.permit)
    if whole.isEmpty { return false }
    var isKept = cache.storeNow(whole, of: record, inMemory: inMemory, replacing: replacing, permit: job.permit)
    if isKept == nil {
      // A separate task, so that finished work is stored even if the last waiter leaves now.
      isKept = await Task { [cache] in
        await cache.store(whole, of: record, inMemory: inMemory, replacing: replacing, permit: job.permit)
      }.value
    }
    guard isKept == true, let disk = cache.disk else { return false }
    for entry in whole {
      monitor.add(entry.thumbnail.data.count, to: \.storedBytes)
      monitor.send(job.source, .stored(entry.variant, bytes: entry.thumbnail.data.count))
    }
    return !disk.isFailing
  }
}
