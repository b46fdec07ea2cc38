import Foundation

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
    replacing: Bool
  ) async -> Bool {
    guard let description = thumbnails.first?.1.source else { return false }
    guard body.mayBeStored else {
      // What was kept of it before the server forbade it goes, too.
      if replacing, body.answer?.metadata.control.forbidsStoring == true { await forgetThumbnails(of: source) }
      return false
    }
    var record = SourceRecord(source, description: description, fetchedAt: configuration.now())
    record.answer = body.answer
    record.freshness = body.answer?.freshness ?? .lasting
    return await store(thumbnails, of: source, with: record, inMemory: inMemory, replacing: replacing)
  }

  /// Keeps a thumbnail that was shrunk from a stored one, and holds for as long as that. Returns whether the disk cache
  /// will have it.
  func store(
    _ variant: Variant, shrunk: DatedThumbnail, of source: ImageSource, inMemory: Set<Variant>
  ) async -> Bool {
    var record = SourceRecord(source, description: shrunk.thumbnail.source, fetchedAt: nil)
    record.freshness = shrunk.freshness
    return await store([(variant, shrunk.thumbnail)], of: source, with: record, inMemory: inMemory, replacing: false)
  }

  private func store(
    _ thumbnails: [(Variant, Thumbnail)], of source: ImageSource, with record: SourceRecord, inMemory: Set<Variant>,
    replacing: Bool
  ) async -> Bool {
    let entries = thumbnails.map { CacheEntry(variant: $0, thumbnail: $1) }
    // In a task of its own: what is made is kept, even if the last waiter leaves just now.
    await Task { [cache] in await cache.store(entries, of: record, inMemory: inMemory, replacing: replacing) }.value
    guard let disk = cache.disk else { return false }
    for (variant, thumbnail) in thumbnails {
      statistics.add(thumbnail.data.count, to: \.storedBytes)
      events.send(source, .stored(variant, bytes: thumbnail.data.count))
    }
    return !disk.isFailing
  }

  /// Drops all thumbnails of a picture that is not what it was.
  func forgetThumbnails(of source: ImageSource) async {
    await Task { [cache] in await cache.remove(source.key) }.value
  }
}
