/// The photos of one search as far as they have come, and where the next ones are. A pure value.
struct SearchResults {
  /// Where the source goes on.
  enum Next: Equatable {
    /// With the page at this place.
    case page(PageCursor?)
    /// With photos picked by chance.
    case random
    /// Nowhere.
    case ended
  }

  /// So many pages in a row without a photo that was not there before, and the source counts as a circle.
  static let mostBarrenPages = 3

  private(set) var items: [GalleryItem] = []
  private(set) var next: Next
  private(set) var total: Int?
  private(set) var pages = 0
  private(set) var skipped: [SkippedItem] = []
  /// The highest round of a photo that has come.
  private(set) var lastRound = 0
  /// The page size that `next` counts in.
  var pageSize: Int
  /// Whether the photos have nothing to do with the search: they stand in while the source cannot be reached.
  var isSubstitute = false
  /// Photos that were deleted do not come back.
  private var deleted: Set<[UInt8]>
  private var seen: Set<GalleryItem.ID> = []
  private var seenCursors: Set<PageCursor> = []
  private var barrenPages = 0

  init(next: Next, pageSize: Int, without deleted: Set<[UInt8]> = []) {
    self.next = next
    self.pageSize = pageSize
    self.deleted = deleted
  }

  /// Adds a page of the source, or of what is stored of it. Returns how many of its photos were not there before.
  mutating func append(_ page: PhotoPage) -> Int {
    let known = seen.count
    let added = take(page)
    pages += 1
    // Photos that were deleted are no sign of a circle.
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

  /// Takes in the source's answer for a page that the store has given already, as the last but so many. Where the search
  /// goes on behind the page, or behind what was its end, the source knows better.
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

  /// Adds photos. Returns how many of them were not there before in this round.
  private mutating func append(_ photos: [Photo], round: Int) -> Int {
    let before = items.count
    for photo in photos {
      let item = GalleryItem(photo, round: round)
      if seen.insert(item.id).inserted, !deleted.contains(item.id.key) { items.append(item) }
    }
    if items.count > before { lastRound = max(lastRound, round) }
    return items.count - before
  }

  /// Adds a portion of all cached photos, which counts as a page. Returns how many were not there before in this round.
  mutating func appendCached(_ photos: [Photo], round: Int) -> Int {
    pages += photos.isEmpty ? 0 : 1
    return append(photos, round: round)
  }

  /// Takes the photos that stand in away.
  mutating func dropSubstitutes() {
    guard isSubstitute else { return }
    isSubstitute = false
    items = []
    seen = []
    pages = 0
    lastRound = 0
  }

  /// Takes a photo out, in all its rounds, for good. Returns it, or nil when it is not there.
  mutating func delete(_ key: [UInt8]) -> Photo? {
    deleted.insert(key)
    let photo = items.first { $0.id.key == key }?.photo
    if photo != nil { items.removeAll { $0.id.key == key } }
    return photo
  }

  /// The same search from its beginning.
  func restarted(next: Next, pageSize: Int) -> SearchResults {
    SearchResults(next: next, pageSize: pageSize, without: deleted)
  }
}
