/// The back-pressure of a prefetch: decides when the next page of the search is requested.
///
/// This is when the unfinished photos of all pages fill at most `ahead` − 1 pages. So a few slow photos do not delay
/// others. Photos that wait for a silent server are not counted. One page is requested at a time. A pure value without
/// I/O: its owner reports events and performs the returned actions in order.
struct PageWindow {
  /// An action for the owner.
  enum Action: Equatable {
    /// Request this page, then call `pageArrived` or `pageFailed`.
    case requestPage(PageCursor?)
    /// Process these photos, and call `photoDone` for each, whether it succeeds or fails. Never empty.
    case emit([Photo])
    /// Everything is done; always the last action. `failure` is the error that ended the pages early, if there was one.
    case finish(failure: ProviderError?)
  }

  private enum Phase {
    case ready
    case waiting
    case failed(ProviderError)
    case finished
  }

  /// The search that the pages belong to.
  private(set) var search: PagedSearch
  private let ahead: Int
  private var phase = Phase.ready
  /// The number of photos on the last page, repeated ones included.
  private var pageLength = 0
  /// The number of emitted photos that are not done.
  private(set) var remaining = 0
  /// The photos that are not counted, because they wait for a silent server.
  private var uncounted = 0

  /// The window at the start of a search.
  ///
  /// - Parameter ahead: The most outstanding pages of photos; at least 1. With 1 a page is requested when all earlier
  ///   ones are done.
  init(_ search: PagedSearch = PagedSearch(), ahead: Int = 2) {
    self.search = search
    self.ahead = max(1, ahead)
  }

  /// Call it once, before anything else.
  mutating func start() -> [Action] { proceed() }

  /// The requested page has arrived.
  mutating func pageArrived(_ page: PhotoPage) -> [Action] {
    guard case .waiting = phase else { return [] }
    phase = .ready
    pageLength = page.photos.count
    let photos = search.append(page)
    guard !photos.isEmpty else { return proceed() }
    remaining += photos.count
    // The page request goes first, so that it is sent before the photos keep the connections busy.
    return proceed() + [.emit(photos)]
  }

  /// The page request has failed. Photos already emitted are still awaited.
  mutating func pageFailed(_ error: ProviderError) -> [Action] {
    guard case .waiting = phase else { return [] }
    phase = .failed(error)
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
    case .ready:
      guard case .page(let cursor) = search.next else { return finish() }
      guard remaining - uncounted <= (ahead - 1) * pageLength else { return [] }
      phase = .waiting
      return [.requestPage(cursor)]
    case .failed(let error): return finish(error)
    case .waiting, .finished: return []
    }
  }

  private mutating func finish(_ failure: ProviderError? = nil) -> [Action] {
    guard remaining == 0 else { return [] }
    phase = .finished
    return [.finish(failure: failure)]
  }
}
