import Foundation
import HTTPSemantics
import ThumbnailCache
import ThumbnailCore

/// Storing of finished thumbnails in the caches.
extension PipelineStages {
  /// Stores thumbnails of an image; waits while the write-behind queue is full.
  ///
  /// - Parameters:
  ///   - inMemory: The variants that the memory cache keeps, too.
  ///   - replacing: What happens to the stored thumbnails of the image.
  /// - Returns: Whether the disk cache will have them, as far as is known now.
  func store(
    _ thumbnails: [(Variant, Thumbnail)], of source: ImageSource, from body: SourceBody, inMemory: Set<Variant>,
    replacing: Replacement, permit: StorePermit
  ) async -> Bool {
    guard configuration.cacheMode != .noStore, let description = thumbnails.first?.1.source else { return false }
    guard body.mayBeStored else {
      // Also drops what was stored before the server forbade storing.
      if body.response?.metadata.control.forbidsStoring == true, await isOutdated(source, by: body, replacing) {
        forgetThumbnails(of: source, permit: permit)
      }
      return false
    }
    var record = SourceRecord(source, description: description, fetchedAt: configuration.now())
    record.response = body.response
    record.freshness = body.response?.freshness ?? .lasting
    return await store(thumbnails, of: source, with: record, inMemory: inMemory, replacing: replacing, permit: permit)
  }

  /// Whether the stored thumbnails are of an earlier version than a body of which nothing will be stored.
  private func isOutdated(_ source: ImageSource, by body: SourceBody, _ replacing: Replacement) async -> Bool {
    switch replacing {
    case .none: return false
    case .all: return true
    case .ifOutdated(let rule, let report):
      let history = await cache.history(of: source.key, priority: PriorityControl(.visible))
      guard history.isOutdated(by: body.response, rule: rule) else { return false }
      report()
      return true
    }
  }

  /// Stores a thumbnail that was shrunk from a stored one and has its freshness. Returns whether the disk cache will
  /// have it.
  func store(
    _ variant: Variant, shrunk: DatedThumbnail, of source: ImageSource, inMemory: Set<Variant>, permit: StorePermit
  ) async -> Bool {
    var record = SourceRecord(source, description: shrunk.thumbnail.source, fetchedAt: nil)
    record.freshness = shrunk.freshness
    return await store(
      [(variant, shrunk.thumbnail)], of: source, with: record, inMemory: inMemory, replacing: .none, permit: permit)
  }

  private func store(
    _ thumbnails: [(Variant, Thumbnail)], of source: ImageSource, with record: SourceRecord, inMemory: Set<Variant>,
    replacing: Replacement, permit: StorePermit
  ) async -> Bool {
    let (damaged, whole) = (thumbnails.filter { $1.isDamaged }, thumbnails.filter { !$1.isDamaged })
    // Damaged images stay out of the disk cache: unlike this pipeline, another user of it may not accept them.
    cache.keepInMemory(
      damaged.filter { inMemory.contains($0.0) }.map { CacheEntry(variant: $0, thumbnail: $1) }, of: record,
      permit: permit)
    if whole.isEmpty { return false }
    let entries = whole.map { CacheEntry(variant: $0, thumbnail: $1) }
    var isKept = cache.storeNow(entries, of: record, inMemory: inMemory, replacing: replacing, permit: permit)
    if isKept == nil {
      // A separate task, so that finished work is stored even if the last waiter leaves now.
      isKept = await Task { [cache] in
        await cache.store(entries, of: record, inMemory: inMemory, replacing: replacing, permit: permit)
      }.value
    }
    guard isKept == true, let disk = cache.disk else { return false }
    for (variant, thumbnail) in whole {
      statistics.add(thumbnail.data.count, to: \.storedBytes)
      events.send(source, .stored(variant, bytes: thumbnail.data.count))
    }
    return !disk.isFailing
  }

  /// Removes all thumbnails of an image that has changed or may not be stored.
  func forgetThumbnails(of source: ImageSource, permit: StorePermit) {
    ThumbnailCache.perform(by: permit) { cache.forget(source.key) }
  }
}
