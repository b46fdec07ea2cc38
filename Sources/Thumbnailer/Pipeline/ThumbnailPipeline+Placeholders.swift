public import Foundation
package import ThumbnailCache
public import ThumbnailCore

extension ThumbnailPipeline {
  /// The disk cache's placeholders of images, and the images' sizes. Downloads nothing.
  package func storedPlaceholders(of sources: [SourceKey]) async -> [SourceKey: StoredPlaceholder] {
    await stages.cache.placeholders(of: sources)
  }

  /// The placeholder of an image, from a thumbnail of any size in the disk cache. Nil if there is none. Downloads
  /// nothing.
  public func placeholder(of source: ImageSource) async -> Placeholder? {
    await storedPlaceholders(of: [source.key])[source.key]?.placeholder
  }

  /// The micro thumbnails of images, in their order: JPEGs of up to 1 kB with at most 32 pixels a side, to show before
  /// the thumbnails. From memory, or in one visit of the disk cache: 15 µs for each. Nil for an image without one: it
  /// is made with a thumbnail only on request (`ThumbnailRequest.makesMicroThumbnail`). Downloads nothing.
  public func microThumbnails(of sources: [ImageSource]) async -> [Data?] {
    let found = await stages.cache.microThumbnails(of: sources.map(\.key))
    return sources.map { found[$0.key] }
  }

  /// The micro thumbnail of one image.
  public func microThumbnail(of source: ImageSource) async -> Data? { await microThumbnails(of: [source])[0] }

  /// Reads stored micro thumbnails into memory.
  func readMicroThumbnails(of sources: [ImageSource], priority: Priority) async {
    _ = await stages.cache.microThumbnails(of: sources.map(\.key), priority: PriorityControl(priority))
  }

  /// Changes whenever memory has dropped micro thumbnails to make room.
  var microThumbnailDrops: Int { stages.cache.microThumbnailDrops }

  /// The micro thumbnail if it is in memory, which keeps the last 2,300 that were read or made. Returns at once, on any
  /// thread, within a microsecond.
  public func cachedMicroThumbnail(of source: ImageSource) -> Data? {
    stages.cache.memoryMicroThumbnail(of: source.key)
  }
}
