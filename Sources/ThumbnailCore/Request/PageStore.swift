public import Foundation

/// Keeps the pages of photo searches, so that a gallery can be opened without a network.
///
/// A page's photos are opaque bytes here: only their cache keys are known, to tell which have thumbnails. Nothing throws:
/// a store that fails has nothing, and says why in the log. May be used from any task.
public protocol PageStore: Sendable {
  /// Keeps a page, in place of an earlier one at the same place. Returns when it is written.
  func store(_ page: StoredPage) async

  /// The page at a place; nil when it is not there. Counts as a use of the page.
  func page(at place: PagePlace) async -> StoredPage?

  /// The page sizes a search is stored with, from its first page on; the one used last comes first.
  func pageSizes(provider: String, query: String) async -> [Int]

  /// Photos that have a thumbnail in the cache, of all searches, each once, those stored last first.
  ///
  /// - Parameters:
  ///   - mark: The `next` of the portion before; nil for the beginning.
  ///   - count: The most to give.
  func cachedPhotos(after mark: Int64?, count: Int) async -> CachedPhotos

  /// Takes a photo out of all pages. Returns when that is written.
  func removePhoto(_ source: SourceKey) async
}

/// Where a page stands among all pages of all searches.
public struct PagePlace: Hashable, Sendable {
  /// The provider's name.
  public var provider: String
  /// What was searched for, in the form that searches are compared by.
  public var query: String
  /// How many photos a page was to have: the places of a provider count in pages of that size.
  public var pageSize: Int
  /// The provider's mark for the page; nil for the first.
  public var cursor: String?

  /// Names a place.
  public init(provider: String, query: String, pageSize: Int, cursor: String?) {
    self.provider = provider
    self.query = query
    self.pageSize = pageSize
    self.cursor = cursor
  }
}

/// A page of a search as it is stored.
public struct StoredPage: Hashable, Sendable {
  /// Where it stands.
  public var place: PagePlace
  /// The provider's mark for the page after it; nil after the last.
  public var next: String?
  /// How many photos match in all, where the provider tells.
  public var total: Int?
  /// When the provider gave it.
  public var fetchedAt: Date
  /// Its photos, in their order.
  public var photos: [StoredPhoto]

  /// Puts a page together.
  public init(place: PagePlace, next: String?, total: Int?, fetchedAt: Date = Date(), photos: [StoredPhoto]) {
    self.place = place
    self.next = next
    self.total = total
    self.fetchedAt = fetchedAt
    self.photos = photos
  }
}

/// A photo as it is stored.
public struct StoredPhoto: Hashable, Sendable {
  /// What its thumbnails are known by in the cache.
  public var source: SourceKey
  /// The photo in the form of whoever stores it.
  public var payload: Data

  /// Pairs a photo with its key.
  public init(source: SourceKey, payload: Data) {
    self.source = source
    self.payload = payload
  }
}

/// Some of the photos that have thumbnails.
public struct CachedPhotos: Hashable, Sendable {
  /// The photos.
  public var photos: [StoredPhoto]
  /// Where the next portion begins; nil after the last.
  public var next: Int64?

  /// Puts a portion together.
  public init(photos: [StoredPhoto] = [], next: Int64? = nil) {
    self.photos = photos
    self.next = next
  }
}
