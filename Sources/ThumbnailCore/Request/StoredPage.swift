package import FoundationEssentials

/// Identifies a page among all pages of all searches.
package struct PagePlace: Hashable, Sendable {
  /// The provider's name.
  package var provider: String
  /// The search query, in its normalised form.
  package var query: String
  /// The requested number of photos of a page; a provider's cursors depend on it.
  package var pageSize: Int
  /// The provider's cursor of the page; nil for the first.
  package var cursor: String?

  /// Makes a place.
  package init(provider: String, query: String, pageSize: Int, cursor: String?) {
    self.provider = provider
    self.query = query
    self.pageSize = pageSize
    self.cursor = cursor
  }
}

/// A page of a search as it is stored.
package struct StoredPage: Hashable, Sendable {
  /// The page's place.
  package var place: PagePlace
  /// The provider's cursor of the next page; nil after the last.
  package var next: String?
  /// The number of matching photos, if the provider reports it.
  package var total: Int?
  /// When the provider returned it.
  package var fetchedAt: Date
  /// The photos, in order.
  package var photos: [StoredPhoto]

  /// Makes a page.
  package init(place: PagePlace, next: String?, total: Int?, fetchedAt: Date = Date(), photos: [StoredPhoto]) {
    self.place = place
    self.next = next
    self.total = total
    self.fetchedAt = fetchedAt
    self.photos = photos
  }
}

/// A photo as it is stored in a page.
package struct StoredPhoto: Hashable, Sendable {
  /// The key of its thumbnails in the cache.
  package var source: SourceKey
  /// The photo, encoded by the caller.
  package var payload: Data

  /// Makes a stored photo.
  package init(source: SourceKey, payload: Data) {
    self.source = source
    self.payload = payload
  }
}

/// A portion of the photos that have thumbnails.
package struct CachedPhotos: Hashable, Sendable {
  /// The photos.
  package var photos: [StoredPhoto]
  /// The beginning of the next portion; nil after the last.
  package var next: Int64?

  /// Makes a portion.
  package init(photos: [StoredPhoto] = [], next: Int64? = nil) {
    self.photos = photos
    self.next = next
  }
}
