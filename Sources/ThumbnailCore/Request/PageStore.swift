public import FoundationEssentials

/// Stores result pages of photo searches, so that a gallery can be opened offline.
///
/// A page's photos are opaque bytes here, with the cache keys of their thumbnails. Nothing throws: a store that fails
/// returns nothing, and logs the reason. May be used from any task.
public protocol PageStore: Sendable {
  /// Stores a page, replacing an earlier one at the same place. Returns when it is written.
  func store(_ page: StoredPage) async

  /// The page at a place; nil when it is not stored. Counts as a use of the page.
  func page(at place: PagePlace) async -> StoredPage?

  /// The page sizes that a search is stored with from its first page on, most recently used first.
  func pageSizes(provider: String, query: String) async -> [Int]

  /// Photos that have a thumbnail in the cache, across all searches, each once, most recently stored first.
  ///
  /// - Parameters:
  ///   - mark: The `next` of the previous portion; nil for the beginning.
  ///   - count: The most photos to return.
  func cachedPhotos(after mark: Int64?, count: Int) async -> CachedPhotos

  /// Removes a photo from all pages. Returns when that is written.
  func removePhoto(_ source: SourceKey) async
}

/// Identifies a page among all pages of all searches.
public struct PagePlace: Hashable, Sendable {
  /// The provider's name.
  public var provider: String
  /// The search query, in its normalised form.
  public var query: String
  /// The requested number of photos of a page; a provider's cursors depend on it.
  public var pageSize: Int
  /// The provider's cursor of the page; nil for the first.
  public var cursor: String?

  /// Makes a place.
  public init(provider: String, query: String, pageSize: Int, cursor: String?) {
    self.provider = provider
    self.query = query
    self.pageSize = pageSize
    self.cursor = cursor
  }
}

/// A page of a search as it is stored.
public struct StoredPage: Hashable, Sendable {
  /// The page's place.
  public var place: PagePlace
  /// The provider's cursor of the next page; nil after the last.
  public var next: String?
  /// The number of matching photos, if the provider reports it.
  public var total: Int?
  /// When the provider returned it.
  public var fetchedAt: Date
  /// The photos, in order.
  public var photos: [StoredPhoto]

  /// Makes a page.
  public init(place: PagePlace, next: String?, total: Int?, fetchedAt: Date = Date(), photos: [StoredPhoto]) {
    self.place = place
    self.next = next
    self.total = total
    self.fetchedAt = fetchedAt
    self.photos = photos
  }
}

/// A photo as it is stored in a page.
public struct StoredPhoto: Hashable, Sendable {
  /// The key of its thumbnails in the cache.
  public var source: SourceKey
  /// The photo, encoded by the caller.
  public var payload: Data

  /// Makes a stored photo.
  public init(source: SourceKey, payload: Data) {
    self.source = source
    self.payload = payload
  }
}

/// A portion of the photos that have thumbnails.
public struct CachedPhotos: Hashable, Sendable {
  /// The photos.
  public var photos: [StoredPhoto]
  /// The beginning of the next portion; nil after the last.
  public var next: Int64?

  /// Makes a portion.
  public init(photos: [StoredPhoto] = [], next: Int64? = nil) {
    self.photos = photos
    self.next = next
  }
}
