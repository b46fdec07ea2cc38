import ThumbnailCache
import ThumbnailCore

/// Stores finished thumbnails in the caches.
///
/// Nothing waits for the disk here: a thumbnail can be read at once, and is written shortly after. When the disk is
/// slower than the pipeline, more than 8 MiB become pending. Then a prefetch waits before it is delivered
/// (`keepPaceWithDisk`). A visible thumbnail is delivered first; its job then waits, and keeps its body meanwhile. The
/// bodies' memory and the open files are limited, and so are the pending thumbnails.
final class ThumbnailStore: Sendable {
  let configuration: ThumbnailPipeline.Configuration
  let cache: ThumbnailCache
  let monitor: PipelineMonitor

  init(_ configuration: ThumbnailPipeline.Configuration, cache: ThumbnailCache, monitor: PipelineMonitor) {
    (self.configuration, self.cache, self.monitor) = (configuration, cache, monitor)
  }

  /// Stores thumbnails that were made from a body.
  ///
  /// - Parameter replacing: The replacement of the stored thumbnails of the image.
  /// - Returns: The receipt of the disk cache; nil if the thumbnails do not go there.
  func store(
    _ thumbnails: [CacheEntry], from body: SourceBody, replacing: Replacement, for job: JobContext
  ) async -> StoreReceipt? {
    guard !job.policy.bypassesCaches, let description = thumbnails.first?.thumbnail.source else { return nil }
    guard body.mayBeStored else {
      // Also drops thumbnails that were stored before the server forbade storing.
      if body.response?.metadata.control.forbidsStoring == true, await isOutdated(by: body, replacing, for: job) {
        cache.forget(job.source.key, permit: job.permit)
      }
      return nil
    }
    var record = SourceRecord(job.source, description: description, fetchedAt: configuration.now())
    record.response = body.response
    record.freshness = body.response?.freshness ?? .lasting
    let whole = thumbnails.filter { !$0.thumbnail.isDamaged }
    // Damaged images stay out of the disk cache: unlike this pipeline, another user of it may not accept them.
    let damaged = thumbnails.filter(\.thumbnail.isDamaged)
    cache.keepInMemory(damaged, of: record, permit: job.permit)
    let receipt = store(whole, with: record, replacing: replacing, for: job)
    await keepPaceWithDisk(for: job)
    return receipt
  }

  /// Whether the stored thumbnails belong to an earlier version than a body whose thumbnails will not be stored.
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

  /// Stores a thumbnail that was shrunk from a stored one and has its freshness. Its job has no body to keep, and it
  /// can be shrunk again, so a visible one stays out of the disk cache while too much is pending.
  ///
  /// - Returns: The receipt of the disk cache; nil if the thumbnail does not go there.
  func store(shrunk: FoundThumbnail, for job: JobContext) async -> StoreReceipt? {
    await keepPaceWithDisk(for: job)
    let thumbnail = shrunk.stored.thumbnail
    var record = SourceRecord(job.source, description: thumbnail.source, fetchedAt: nil)
    record.freshness = shrunk.stored.freshness
    let entry = CacheEntry(variant: shrunk.variant, thumbnail: thumbnail)
    if thumbnail.isDamaged || !cache.hasRoom {
      cache.keepInMemory([entry], of: record, permit: job.permit)
      return nil
    }
    return store([entry], with: record, replacing: .none, for: job)
  }

  private func store(
    _ thumbnails: [CacheEntry], with record: SourceRecord, replacing: Replacement, for job: JobContext
  ) -> StoreReceipt? {
    if thumbnails.isEmpty { return nil }
    guard let receipt = cache.store(thumbnails, of: record, replacing: replacing, permit: job.permit) else {
      return nil
    }
    for entry in thumbnails {
      monitor.add(entry.thumbnail.data.count, to: \.storedBytes)
      monitor.send(job.source, .stored(entry.variant, bytes: entry.thumbnail.data.count))
    }
    return receipt
  }

  /// Waits while too much is pending, unless the image is visible or becomes so.
  private func keepPaceWithDisk(for job: JobContext) async {
    if cache.hasRoom { return }
    let promise = Promise<Void, Never>()
    let observation = job.priority.observe { if $0 == .visible { promise.resume(with: .success(())) } }
    defer { job.priority.stopObserving(observation) }
    Task { [cache] in
      await cache.waitForRoom(priority: job.priority)
      promise.resume(with: .success(()))
    }
    // A cancelled job waits, too, because its thumbnails are also pending.
    _ = await promise.wait {}
  }
}
