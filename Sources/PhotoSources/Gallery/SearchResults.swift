/// The photos of one search so far, and how it continues. A pure value.
struct SearchResults {
  /// How the search continues.
  enum Next: Equatable {
    /// With the page at this cursor.
    case page(PageCursor?)
    /// With random photos.
    case random
    /// Not at all.
    case ended
  }

  /// After this many pages in a row without a new photo, the source is taken to repeat itself.
  static let mostBarrenPages = 3

  private(set) var items: [GalleryItem] = []
  private(set) var next: Next
  private(set) var total: Int?
  private(set) var pages = 0
  private(set) var skipped: [SkippedItem] = []
  /// The highest round of a photo.
  private(set) var lastRound = 0
  /// The page size that the cursor in `next` refers to.
  var pageSize: Int
  /// Whether the photos are unrelated ones, shown while the source cannot be reached.
  var isSubstitute = false
  /// Deleted photos are not added again.
  private var deleted: Set<[UInt8]>
  private var seen: Set<GalleryItem.ID> = []
  private var seenCursors: Set<PageCursor> = []
  private var barrenPages = 0

  init(next: Next, pageSize: Int, without deleted: Set<[UInt8]> = []) {
    self.next = next
    self.pageSize = pageSize
    self.deleted = deleted
  }

  /// Appends a page of the source or of the store. Returns the number of new photos.
  mutating func append(_ page: PhotoPage) -> Int {
    let known = seen.count
    let added = take(page)
    pages += 1
    // A page with deleted photos does not count as repeated.
    barrenPages = seen.count == known ? barrenPages + 1 : 0
    let isCircle = barrenPages >= Self.mostBarrenPages
    switch next {
    case .random where page.photos.isEmpty || isCircle: next = .ended
    case .random, .ended: break
    case .page:
      if let cursor = page.next, !(page.photos.isEmpty && page.skipped.isEmpty), !isCircle,
        seenCursors.insert(cursor).inserted
      {
        next = .page(cursor)
      } else {
        next = .ended
      }
    }
    return added
  }

  /// Merges the source's response for a page that the store has already delivered, `pagesAgo` pages back. The source
  /// decides how the search continues behind that page, or behind what was its end.
  mutating func renew(_ page: PhotoPage, pagesAgo: Int) -> Int {
    if pagesAgo == 1 || next == .ended {
      if let cursor = page.next { seenCursors.insert(cursor) }
      next = page.next.map { .page($0) } ?? .ended
    }
    return take(page)
  }

  private mutating func take(_ page: PhotoPage) -> Int {
    total = page.total ?? total
    skipped = (skipped + page.skipped).suffix(100)
    return append(page.photos, round: 0)
  }

  /// Adds photos. Returns how many were new in this round.
  private mutating func append(_ photos: [Photo], round: Int) -> Int {
    let before = items.count
    for photo in photos {
      let item = GalleryItem(photo, round: round)
      if seen.insert(item.id).inserted, !deleted.contains(item.id.key) { items.append(item) }
    }
    if items.count > before { lastRound = max(lastRound, round) }
    return items.count - before
  }

  /// Appends a batch of cached photos, which counts as a page. Returns how many were new in this round.
  mutating func appendCached(_ photos: [Photo], round: Int) -> Int {
    pages += photos.isEmpty ? 0 : 1
    return append(photos, round: round)
  }

  /// Removes the unrelated photos.
  mutating func dropSubstitutes() {
    guard isSubstitute else { return }
    isSubstitute = false
    items = []
    seen = []
    pages = 0
    lastRound = 0
  }

  /// Removes a photo for good, in all rounds. Returns it, or nil if it is not there.
  mutating func delete(_ key: [UInt8]) -> Photo? {
    deleted.insert(key)
    let photo = items.first { $0.id.key == key }?.photo
    if photo != nil { items.removeAll { $0.id.key == key } }
    return photo
  }

  /// The same search from its first page.
  func restarted(next: Next, pageSize: Int) -> SearchResults {
    SearchResults(next: next, pageSize: pageSize, without: deleted)
  }
}
