import DequeModule

/// The progress of a search from page to page: the next request, the new photos of a page, and the end of the search. A
/// pure value: galleries, prefetches and page feeds only decide when to request the next page.
///
/// ## Repeated photos
/// A repeated photo is dropped; only a list keeps it (`keepsRepeats`). A page without a new photo is barren. After
/// `mostBarrenPages` of them in a row the search ends, because the source repeats itself.
///
/// It also ends at a page without a cursor, at a cursor seen before, at a page without any item, and at the limits.
struct PagedSearch {
  /// How the search continues.
  enum Next: Equatable {
    /// With the page at this cursor.
    case page(PageCursor?)
    /// With random photos.
    case random
    /// Not at all.
    case ended
  }

  /// The rules of different searches.
  struct Rules {
    /// Whether a repeated photo counts as new, as in a list.
    var keepsRepeats = false
    /// Three in a gallery, whose user needs each page: pages overlap when photos are added to the source meanwhile.
    var mostBarrenPages = 3
    /// Whether a page of unusable items only is barren. If not, it counts neither way.
    var countsUnusablePages = true
    /// How many photos are remembered.
    var memory = Int.max
    /// The most pages.
    var pages = Int.max
    /// The most photos; more are cut off.
    var photos = Int.max
  }

  private let rules: Rules
  /// How the search continues.
  private(set) var next: Next
  /// The total number of results, if the source reports it.
  private(set) var total: Int?
  /// The number of pages that have arrived.
  private(set) var pages = 0
  /// The number of new photos that have arrived.
  private(set) var photos = 0
  private var seen: RecentSet<GalleryItem.ID>
  private var seenCursors: RecentSet<PageCursor>
  private var barrenPages = 0
  /// Photos of the cache, each of which may make one page of the source barren.
  private var cachedPhotos = 0

  init(next: Next = .page(nil), rules: Rules = Rules()) {
    self.rules = rules
    self.next = rules.pages > 0 && rules.photos > 0 ? next : .ended
    seen = RecentSet(capacity: rules.memory)
    seenCursors = RecentSet(capacity: rules.memory)
  }

  /// Adds the next page. Returns its new photos.
  mutating func append(_ page: PhotoPage) -> [Photo] {
    let new = takePhotos(of: page)
    pages += 1
    if !new.isEmpty {
      barrenPages = 0
    } else if rules.countsUnusablePages || !page.photos.isEmpty {
      barrenPages += 1
    }
    let hasEnded = barrenPages >= rules.mostBarrenPages + cachedPhotos || pages >= rules.pages || photos >= rules.photos
    switch next {
    case .random where page.photos.isEmpty || hasEnded: next = .ended
    case .random, .ended: break
    case .page:
      if let cursor = page.next, !(page.photos.isEmpty && page.skipped.isEmpty), !hasEnded,
        seenCursors.insert(cursor)
      {
        next = .page(cursor)
      } else {
        next = .ended
      }
    }
    return new
  }

  /// Merges the source's response for a page that the store has already delivered, `pagesAgo` pages back. The source
  /// decides how the search continues after that page, or after its end. Returns its new photos.
  mutating func renew(_ page: PhotoPage, pagesAgo: Int) -> [Photo] {
    if pagesAgo == 1 || next == .ended {
      if let cursor = page.next { _ = seenCursors.insert(cursor) }
      next = page.next.map { .page($0) } ?? .ended
    }
    return takePhotos(of: page)
  }

  /// Adds a batch of cached photos of any search, which counts as a page. Returns those that are new in this round.
  mutating func appendCached(_ photos: [Photo], round: Int) -> [Photo] {
    pages += photos.isEmpty ? 0 : 1
    let new = photos.filter { seen.insert(GalleryItem.ID($0, round: round)) }
    cachedPhotos += new.count
    return new
  }

  /// Treats the photos so far as not seen, because they were unrelated to the search.
  mutating func dropPhotos() {
    seen = RecentSet(capacity: rules.memory)
    cachedPhotos = 0
    pages = 0
    photos = 0
  }

  private mutating func takePhotos(of page: PhotoPage) -> [Photo] {
    total = page.total ?? total
    var new: [Photo] = []
    for photo in page.photos where photos + new.count < rules.photos {
      if rules.keepsRepeats || seen.insert(GalleryItem.ID(photo, round: 0)) { new.append(photo) }
    }
    photos += new.count
    return new
  }
}

/// A bounded set of the most recently inserted elements, so that endless input takes constant memory.
///
/// Stores randomly seeded 64-bit hashes: the chance of any collision within a million insertions is about one in a
/// billion.
struct RecentSet<Element: Hashable> {
  private let capacity: Int
  private var hashes: Set<UInt64> = []
  private var order: Deque<UInt64> = []

  /// Keeps the last `capacity` elements.
  init(capacity: Int) { self.capacity = max(1, capacity) }

  /// Inserts an element. False if it is present already.
  mutating func insert(_ element: Element) -> Bool {
    var hasher = Hasher()
    hasher.combine(element)
    let hash = UInt64(bitPattern: Int64(hasher.finalize()))
    guard hashes.insert(hash).inserted else { return false }
    order.append(hash)
    if order.count > capacity, let oldest = order.popFirst() { hashes.remove(oldest) }
    return true
  }
}
