/// The back-pressure of a prefetch: decides when the provider's next page is requested, and which of its photos are
/// emitted.
///
/// The next page is requested once the unfinished photos, of whichever page, fill at most `ahead` − 1 pages. So a few
/// slow photos hold back only themselves, and photos that wait for a silent server are not counted. One page is
/// requested at a time. Photos repeated on a later page are dropped, unless the provider repeats on purpose. A pure
/// value without I/O: its owner reports events and performs the returned actions in order.
struct PageWindow {
  /// What the owner has to do.
  enum Action: Equatable {
    /// Request this page, then call `pageArrived` or `pageFailed`.
    case requestPage(PageCursor?)
    /// Process these photos, and call `photoDone` for each, whether it succeeds or fails. Never empty.
    case emit([Photo])
    /// Everything is done; always the last action. `failure` is the error that ended the pages early, if there was one.
    case finish(failure: ProviderError?)
  }

  private enum Phase {
    case ready(PageCursor?)
    case waiting
    case ended(ProviderError?)
    case finished
  }

  private let ahead: Int
  private let pageLimit: Int
  private let photoLimit: Int
  private let endsAtRepetition: Bool
  private let keepsRepetitions: Bool
  private var phase = Phase.ready(nil)
  private var seenCursors = RecentSet<PageCursor>()
  /// As bytes: ids that are only canonically equivalent as Unicode are different photos.
  private var seenIDs = RecentSet<[UInt8]>()
  /// The number of photos on the last page, repeated ones included.
  private var pageLength = 0
  /// The number of emitted photos that are not done.
  private(set) var remaining = 0
  /// Those of them that are not counted, since they wait for a silent server.
  private var uncounted = 0

  /// The number of pages that have arrived.
  private(set) var pagesArrived = 0
  /// The number of photos emitted.
  private(set) var photosEmitted = 0
  /// The number of photos dropped as repeated.
  private(set) var duplicates = 0

  /// The window at the start of a search.
  ///
  /// - Parameters:
  ///   - ahead: How many pages of photos may be outstanding; at least 1. With 1 a page is requested when all earlier
  ///     ones are done.
  ///   - pageLimit: The most pages to request; nil for no limit.
  ///   - photoLimit: The most photos to emit; nil for no limit.
  ///   - endsAtRepetition: Whether a page with only repeated photos ends the search, whatever its cursor.
  ///   - keepsRepetitions: Whether a repeated photo is emitted again, as for the lines of a list.
  init(
    ahead: Int = 2, pageLimit: Int? = nil, photoLimit: Int? = nil, endsAtRepetition: Bool = false,
    keepsRepetitions: Bool = false
  ) {
    self.ahead = max(1, ahead)
    self.pageLimit = pageLimit ?? .max
    self.photoLimit = photoLimit ?? .max
    self.endsAtRepetition = endsAtRepetition
    self.keepsRepetitions = keepsRepetitions
  }

  /// To be called once, before anything else.
  mutating func start() -> [Action] {
    if pageLimit <= 0 || photoLimit <= 0 { phase = .ended(nil) }
    return proceed()
  }

  /// The requested page has arrived.
  mutating func pageArrived(_ page: PhotoPage) -> [Action] {
    guard case .waiting = phase else { return [] }
    pagesArrived += 1
    pageLength = page.photos.count
    let photos = newPhotos(of: page)
    photosEmitted += photos.count
    phase = endsAtRepetition && photos.isEmpty && !page.photos.isEmpty ? .ended(nil) : phaseAfter(page)
    guard !photos.isEmpty else { return proceed() }
    remaining += photos.count
    // The page request goes first, so that it is sent before the photos keep the connections busy.
    return proceed() + [.emit(photos)]
  }

  /// The page request has failed. Photos already emitted are still awaited.
  mutating func pageFailed(_ error: ProviderError) -> [Action] {
    guard case .waiting = phase else { return [] }
    phase = .ended(error)
    return proceed()
  }

  /// One photo has finished or failed. `uncounted` of the others wait for silent servers.
  mutating func photoDone(uncounted: Int = 0) -> [Action] {
    guard remaining > 0 else { return [] }
    remaining -= 1
    return setUncounted(uncounted)
  }

  /// This many of the unfinished photos wait for silent servers and are not counted.
  mutating func setUncounted(_ count: Int) -> [Action] {
    uncounted = count
    return proceed()
  }

  private mutating func proceed() -> [Action] {
    switch phase {
    case .ready(let cursor) where remaining - uncounted <= (ahead - 1) * pageLength:
      phase = .waiting
      return [.requestPage(cursor)]
    case .ended(let failure) where remaining == 0:
      phase = .finished
      return [.finish(failure: failure)]
    case .ready, .waiting, .ended, .finished:
      return []
    }
  }

  private mutating func phaseAfter(_ page: PhotoPage) -> Phase {
    guard let next = page.next, !(page.photos.isEmpty && page.skipped.isEmpty), pagesArrived < pageLimit,
      photosEmitted < photoLimit, seenCursors.insert(next)
    else { return .ended(nil) }
    return .ready(next)
  }

  private mutating func newPhotos(of page: PhotoPage) -> [Photo] {
    var photos: [Photo] = []
    for photo in page.photos where photosEmitted + photos.count < photoLimit {
      guard keepsRepetitions || seenIDs.insert(photo.fingerprint) else {
        duplicates += 1
        continue
      }
      photos.append(photo)
    }
    return photos
  }
}
