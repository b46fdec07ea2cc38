/// Decides when the next page of a provider is asked for, and which of its photos go on.
///
/// The next page is asked for while the photos of those before are being made, as long as these are no more than fill
/// `ahead` pages, the next one included. What counts are the photos that are not done, of whichever page: a few that take
/// long hold back nothing but themselves, and those that wait for a silent server do not count. One page is asked for at
/// a time. A photo that a later page repeats is left out, unless the provider means it. A pure value without I/O: its
/// owner tells it what happens and carries out the actions it returns, in their order.
struct PageWindow {
  /// What the owner has to do.
  enum Action: Equatable {
    /// Ask the provider for this page, then call `pageArrived` or `pageFailed`.
    case requestPage(PageCursor?)
    /// Make these photos, and call `photoDone` for each, done or failed. Never empty.
    case emit([Photo])
    /// All is done. `failure` is why the provider gave no more pages, if it was not their end. Comes once, as the last.
    case finish(failure: ProviderError?)
  }

  private enum Phase: Equatable {
    case ready(PageCursor?)
    case waiting(PageCursor?)
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
  /// As bytes: two ids that only look alike, being composed differently, are two photos.
  private var seenIDs = RecentSet<[UInt8]>()
  /// How many photos the last page had, those included that had come before.
  private var pageLength = 0
  /// The photos handed out that are not done.
  private(set) var remaining = 0
  /// Those of them that do not count, since they wait for a silent server.
  private var uncounted = 0

  /// The pages that have come.
  private(set) var pagesArrived = 0
  /// The photos handed out.
  private(set) var photosEmitted = 0
  /// The photos left out because they had come before.
  private(set) var duplicates = 0

  /// A window at the beginning of a search.
  ///
  /// - Parameters:
  ///   - ahead: How many pages of photos may be outstanding; at least 1. With 1 a page is asked for when those before are
  ///     done.
  ///   - pageLimit: How many pages are asked for in all; nil for no limit.
  ///   - photoLimit: How many photos are handed out in all; nil for no limit.
  ///   - endsAtRepetition: Whether a page whose photos have all come before is the last, whatever it says.
  ///   - keepsRepetitions: Whether a photo that comes again is handed out again, as the lines of a list are.
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

  /// The page that was asked for has come.
  mutating func pageArrived(_ page: PhotoPage) -> [Action] {
    guard case .waiting = phase else { return [] }
    pagesArrived += 1
    pageLength = page.photos.count
    let photos = newPhotos(of: page)
    photosEmitted += photos.count
    phase = endsAtRepetition && photos.isEmpty && !page.photos.isEmpty ? .ended(nil) : phaseAfter(page)
    guard !photos.isEmpty else { return proceed() }
    remaining += photos.count
    // The next page first: it is on its way before the photos keep the connections busy.
    return proceed() + [.emit(photos)]
  }

  /// The page that was asked for could not be had. The photos that were handed out are still to be done.
  mutating func pageFailed(_ error: ProviderError) -> [Action] {
    guard case .waiting = phase else { return [] }
    phase = .ended(error)
    return proceed()
  }

  /// One photo is done, well or badly. So many of the others wait for silent servers and do not count.
  mutating func photoDone(uncounted: Int = 0) -> [Action] {
    guard remaining > 0 else { return [] }
    remaining -= 1
    return setUncounted(uncounted)
  }

  /// So many of the photos that are not done wait for silent servers and do not count.
  mutating func setUncounted(_ count: Int) -> [Action] {
    uncounted = count
    return proceed()
  }

  /// Asks for no more pages; one that is on its way is left out when it comes.
  mutating func stop() -> [Action] {
    guard phase != .finished else { return [] }
    if case .ended = phase { return [] }
    phase = .ended(nil)
    return proceed()
  }

  private mutating func proceed() -> [Action] {
    switch phase {
    case .ready(let cursor) where remaining - uncounted <= (ahead - 1) * pageLength:
      phase = .waiting(cursor)
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
