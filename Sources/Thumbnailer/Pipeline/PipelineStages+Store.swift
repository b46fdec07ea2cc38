import Foundation
import HTTPSemantics
import ThumbnailCache
import ThumbnailCore

/// The way of finished thumbnails into the caches.
extension PipelineStages {
  /// Keeps thumbnails that were made of a picture; waits while too much waits to be written.
  ///
  /// - Parameters:
  ///   - inMemory: The variants that the memory cache keeps, too.
  ///   - replacing: Whether what is stored of the picture is of what it was before, and gives way.
  /// - Returns: Whether the disk cache will have them, as far as can be told now.
  func store(
    _ thumbnails: [(Variant, Thumbnail)], of source: ImageSource, from body: SourceBody, inMemory: Set<Variant>,
    replacing: Bool, permit: StorePermit
  ) async -> Bool {
    guard let description = thumbnails.first?.1.source else { return false }
    guard body.mayBeStored else {
      // What was kept of it before the server forbade it goes, too.
      if replacing, body.answer?.metadata.control.forbidsStoring == true {
        forgetThumbnails(of: source, permit: permit)
      }
      return false
    }
    var record = SourceRecord(source, description: description, fetchedAt: configuration.now())
    record.answer = body.answer
    record.freshness = body.answer?.freshness ?? .lasting
    return await store(thumbnails, of: source, with: record, inMemory: inMemory, replacing: replacing, permit: permit)
  }

  /// Keeps a thumbnail that was shrunk from a stored one, and holds for as long as that. Returns whether the disk cache
  /// will have it.
  func store(
    _ variant: Variant, shrunk: DatedThumbnail, of source: ImageSource, inMemory: Set<Variant>, permit: StorePermit
  ) async -> Bool {
    var record = SourceRecord(source, description: shrunk.thumbnail.source, fetchedAt: nil)
    record.freshness = shrunk.freshness
    return await store(
      [(variant, shrunk.thumbnail)], of: source, with: record, inMemory: inMemory, replacing: false, permit: permit)
  }

  private func store(
    _ thumbnails: [(Variant, Thumbnail)], of source: ImageSource, with record: SourceRecord, inMemory: Set<Variant>,
    replacing: Bool, permit: StorePermit
  ) async -> Bool {
    let (damaged, whole) = (thumbnails.filter { $1.isDamaged }, thumbnails.filter { !$1.isDamaged })
    // The memory cache lasts as long as the pipeline, which accepts them; whoever opens the disk cache next may not.
    cache.keepInMemory(
      damaged.filter { inMemory.contains($0.0) }.map { CacheEntry(variant: $0, thumbnail: $1) }, of: record,
      permit: permit)
    if whole.isEmpty { return false }
    let entries = whole.map { CacheEntry(variant: $0, thumbnail: $1) }
    // In a task of its own: what is made is kept, even if the last waiter leaves just now.
    let isKept = await Task { [cache] in
      await cache.store(entries, of: record, inMemory: inMemory, replacing: replacing, permit: permit)
    }.value
    guard isKept, let disk = cache.disk else { return false }
    for (variant, thumbnail) in whole {
      statistics.add(thumbnail.data.count, to: \.storedBytes)
      events.send(source, .stored(variant, bytes: thumbnail.data.count))
    }
    return !disk.isFailing
  }

  /// Drops all thumbnails of a picture that is not what it was.
  func forgetThumbnails(of source: ImageSource, permit: StorePermit) {
    ThumbnailCache.perform(by: permit) { cache.forget(source.key) }
  }
}
