package import Foundation
package import ThumbnailCore

extension ThumbnailCache {
  /// The micro thumbnail of an image if it is in memory: synchronous, less than a microsecond.
  package func memoryMicroThumbnail(of source: SourceKey) -> Data? { micro.data(of: source) }

  /// Changes whenever micro thumbnails were dropped from memory to make room.
  package var microThumbnailDrops: Int { micro.drops }

  /// The micro thumbnails of images, from memory, the others in one visit of a reader thread: 15 µs for each. They come
  /// into memory.
  package func microThumbnails(
    of sources: [SourceKey], priority: PriorityControl = PriorityControl(.visible)
  ) async -> [SourceKey: Data] {
    var found: [SourceKey: Data] = [:]
    for source in sources { found[source] = micro.data(of: source) }
    let rest = sources.filter { [found] in found[$0] == nil }
    if rest.isEmpty { return found }
    let stored = await read(rest, priority: priority) { [micro] source, disk, db -> Data? in
      let removals = micro.removals
      guard !disk.commits.pending({ $0.isHidden(source) }), let data = try MicroTable.data(of: source, in: db) else {
        return nil
      }
      micro.insertRead(data, for: source, after: removals)
      return data
    }
    return found.merging(stored) { $1 }
  }

  /// Removes them all from memory.
  package func forgetMicroThumbnails() { micro.removeAll() }

  /// Puts the micro thumbnail of the largest new thumbnail into memory.
  func keepMicroThumbnail(of entries: [CacheEntry], _ source: SourceKey) {
    let best = entries.filter { $0.thumbnail.microThumbnail != nil }.max {
      $0.thumbnail.size.pixelCount < $1.thumbnail.size.pixelCount
    }
    if let data = best?.thumbnail.microThumbnail { micro.insert(data, for: source) }
  }
}
