package import ThumbnailCache
package import ThumbnailCore

extension ThumbnailPipeline {
  /// What the disk cache has to show of images before their thumbnails, and the images' sizes. Downloads nothing.
  package func storedPlaceholders(of sources: [SourceKey]) async -> [SourceKey: StoredPlaceholder] {
    await stages.cache.placeholders(of: sources)
  }

  /// What can be shown of an image before its thumbnail: from a thumbnail of it in the disk cache, in whatever size. Nil
  /// if there is none. Downloads nothing.
  public func placeholder(of source: ImageSource) async -> Placeholder? {
    await storedPlaceholders(of: [source.key])[source.key]?.placeholder
  }
}
