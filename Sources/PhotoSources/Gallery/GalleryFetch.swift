/// A request of a gallery, to the source or to the store.
enum GalleryFetch: Equatable, Sendable {
  /// A page of the source.
  case page(PhotoQuery, PageCursor?)
  /// Random photos of the source.
  case random(count: Int)
  /// A stored page of the search. The first page may have been stored with another page size.
  case stored(PhotoQuery, PageCursor?)
  /// Any photos with cached thumbnails.
  case cached(after: Int64?, count: Int)
}

/// The response to a `GalleryFetch`.
enum GalleryResponse: Sendable {
  /// From the source.
  case live(Result<PhotoPage, ProviderError>)
  /// From the store, with the page size that its cursors refer to; nil if the page is not stored.
  case stored(PhotoPage?, pageSize: Int)
  /// From the cache, with the cursor of the next photos.
  case cached([Photo], next: Int64?)
}
