/// The photos of a gallery's search so far, and how it continues. A pure value.
struct SearchResults {
  private var search: PagedSearch
  private(set) var items: [GalleryItem] = []
  private(set) var skipped: [SkippedItem] = []
  /// The highest round of a photo.
  private(set) var lastRound = 0
  /// The page size that the cursor in `next` refers to.
  var pageSize: Int
  /// Whether the photos are unrelated ones, shown while the source cannot be reached.
  var isSubstitute = false
  /// Deleted photos are not added again.
  private var deleted: Set<[UInt8]>

  init(next: PagedSearch.Next, pageSize: Int, without deleted: Set<[UInt8]> = []) {
    search = PagedSearch(next: next)
    self.pageSize = pageSize
    self.deleted = deleted
  }

  /// How the search continues.
  var next: PagedSearch.Next { search.next }
  /// The total number of results, if the source reports it.
  var total: Int? { search.total }
  /// The number of pages loaded.
  var pages: Int { search.pages }

  /// Appends a page of the source or of the store. Returns the number of new photos.
  mutating func append(_ page: PhotoPage) -> Int {
    skip(page.skipped)
    return add(search.append(page))
  }

  /// Merges the source's response for a page that the store has already delivered: see `PagedSearch.renew`.
  mutating func renew(_ page: PhotoPage, pagesAgo: Int) -> Int {
    skip(page.skipped)
    return add(search.renew(page, pagesAgo: pagesAgo))
  }

  /// Appends a batch of cached photos, which counts as a page. Returns the number of new ones in this round.
  mutating func appendCached(_ photos: [Photo], round: Int) -> Int {
    add(search.appendCached(photos, round: round), round: round)
  }

  /// Adds new photos. Returns how many were not deleted.
  private mutating func add(_ photos: [Photo], round: Int = 0) -> Int {
    let new = photos.map { GalleryItem($0, round: round) }.filter { !deleted.contains($0.id.key) }
    items += new
    if !new.isEmpty { lastRound = max(lastRound, round) }
    return new.count
  }

  private mutating func skip(_ more: [SkippedItem]) { skipped = (skipped + more).suffix(100) }

  /// Removes the unrelated photos.
  mutating func dropSubstitutes() {
    guard isSubstitute else { return }
    isSubstitute = false
    items = []
    lastRound = 0
    search.dropPhotos()
  }

  /// Removes a photo for good, in all rounds. Returns it, or nil if it is not there.
  mutating func delete(_ key: [UInt8]) -> Photo? {
    deleted.insert(key)
    let photo = items.first { $0.id.key == key }?.photo
    if photo != nil { items.removeAll { $0.id.key == key } }
    return photo
  }

  /// The same search from its first page.
  func restarted(next: PagedSearch.Next, pageSize: Int) -> SearchResults {
    SearchResults(next: next, pageSize: pageSize, without: deleted)
  }
}

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
