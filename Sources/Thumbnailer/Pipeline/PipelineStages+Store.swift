import Foundation

/// The way of finished thumbnails into the caches.
extension PipelineStages {
  /// Keeps thumbnails that were made of a picture; waits while too much waits to be written.
  ///
  /// - Parameter replacing: Whether what is stored of the picture is of what it was before, and gives way.
  func store(
    _ thumbnails: [(Variant, Thumbnail)], of source: ImageSource, from body: SourceBody, replacing: Bool
  ) async {
    guard let description = thumbnails.first?.1.source else { return }
    if body.answer?.metadata.control.forbidsStoring == true {
      // What was kept of it before the server forbade it goes, too.
      if replacing { await forgetThumbnails(of: source) }
      return
    }
    var record = SourceRecord(
      source, description: description, fetchedAt: configuration.now(), etag: body.download?.value(of: "ETag"),
      lastModified: body.download?.value(of: "Last-Modified"), cacheControl: body.answer?.metadata.cacheControl)
    record.answer = body.answer
    record.freshness = body.answer?.freshness ?? .lasting
    await store(thumbnails, of: source, with: record, replacing: replacing)
  }

  /// Keeps a thumbnail that was shrunk from a stored one, and holds for as long as that.
  func store(_ variant: Variant, shrunk: DatedThumbnail, of source: ImageSource) async {
    var record = SourceRecord(source, description: shrunk.thumbnail.source, fetchedAt: nil)
    record.freshness = shrunk.freshness
    await store([(variant, shrunk.thumbnail)], of: source, with: record, replacing: false)
  }

  private func store(
    _ thumbnails: [(Variant, Thumbnail)], of source: ImageSource, with record: SourceRecord, replacing: Bool
  ) async {
    let entries = thumbnails.map { CacheEntry(variant: $0, thumbnail: $1) }
    // In a task of its own: what is made is kept, even if the last waiter leaves just now.
    await Task { [cache] in await cache.store(entries, of: record, replacing: replacing) }.value
    guard cache.disk != nil else { return }
    for (variant, thumbnail) in thumbnails {
      statistics.add(thumbnail.data.count, to: \.storedBytes)
      events.send(source, .stored(variant, bytes: thumbnail.data.count))
    }
  }

  /// Drops all thumbnails of a picture that is not what it was.
  func forgetThumbnails(of source: ImageSource) async {
    await Task { [cache] in await cache.remove(source.key) }.value
  }
}
