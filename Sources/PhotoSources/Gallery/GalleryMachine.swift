/// The state machine of a gallery: takes events with their times and returns actions for its owner to perform. A pure
/// value without I/O or clock.
///
/// At most one request to the source and one to the store are in flight. Each request has a ticket; a response with an
/// outdated ticket, because of a new search for instance, is ignored.
///
/// When the source cannot be reached, pages come from the store, and the source is retried with back-off, always with
/// the cursor where its own pages stopped. Its first response ends the offline state, whatever the store has delivered
/// meanwhile.
struct GalleryMachine {
  /// The events.
  enum Event {
    case search(String)
    case refresh
    case retry
    /// Requests the next page wherever the view is.
    case next
    /// The photo at this index is the last in view.
    case showed(Int)
    /// The prefetcher wants this many items in all, since the viewport moves towards the end.
    case wanted(items: Int)
    case delete(GalleryItem.ID)
    /// `wakeTime` has been reached.
    case awake
    case response(GalleryResponse, ticket: Int)
  }

  /// An action for the owner.
  enum Action: Equatable {
    /// Send the request, and report the response with the ticket.
    case fetch(GalleryFetch, ticket: Int)
    /// Cancel the request.
    case cancel(ticket: Int)
    /// Remove the photo from the caches.
    case remove(Photo)
  }

  /// The source of photos while the provider cannot be reached.
  enum Fallback: Equatable {
    /// The stored page at this cursor.
    case stored(PageCursor?)
    /// All cached photos, round after round. Counts the photos of this round, and those of them that were new.
    case cached(after: Int64?, round: Int, came: Int, added: Int)
    /// There are no more.
    case exhausted
  }

  let options: Gallery.Options
  var query: String?
  var results: SearchResults
  /// The results shown until the first page of a refresh arrives.
  var previous: SearchResults?
  var fallback: Fallback?
  var failure: ProviderError?
  /// The tickets of the requests in flight.
  var liveTicket: Int?
  var storeTicket: Int?
  /// The pages taken from the store since the last request to the source, the requested one included.
  var pagesAheadOfSource = 0
  /// The failures of the source since its last page, and when it may be requested again.
  var failures = 0
  var notBefore = Duration.zero
  private var lastTicket = 0
  /// The index of the last photo in view.
  private var lastVisible: Int?
  private var isNextWanted = false
  private var itemsWanted = 0

  init(_ options: Gallery.Options) {
    self.options = options
    results = SearchResults(next: .ended, pageSize: options.pageSize)
  }

  /// Processes an event. Times are counted from any fixed instant.
  mutating func handle(_ event: Event, at now: Duration) -> [Action] {
    switch event {
    case .search(let text): return search(text, at: now)
    case .refresh: return refresh(at: now)
    case .retry: return retry(at: now)
    case .next: isNextWanted = true
    case .showed(let index): lastVisible = index
    case .wanted(let items): itemsWanted = items
    case .delete(let id): return delete(id, at: now)
    case .awake: return wake(at: now)
    case .response(let response, let ticket): return take(response, ticket, at: now)
    }
    return proceed(at: now)
  }

  /// When to send `awake`: at the end of the back-off interval if a failed source has to be retried. Nil if no timer is
  /// needed.
  var wakeTime: Duration? {
    guard query != nil, failure?.mayPass == true, liveTicket == nil,
      isProbing || results.next != .ended && isMoreWanted
    else { return nil }
    return notBefore
  }

  /// Whether the source is retried although no more photos are needed.
  private var isProbing: Bool { options.retriesWhileOffline && failure?.isUnreachable == true }

  private mutating func wake(at now: Duration) -> [Action] {
    guard isProbing, liveTicket == nil, now >= notBefore else { return proceed(at: now) }
    return results.next == .ended ? refresh(at: now) : requestFromSource()
  }

  private mutating func search(_ text: String, at now: Duration) -> [Action] {
    let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    if words == query { return failure == nil ? [] : retry(at: now) }
    let cancelled = cancelAll()
    query = words
    previous = nil
    results = beginning
    forgetFailure()
    lastVisible = nil
    isNextWanted = false
    itemsWanted = 0
    return cancelled + proceed(at: now)
  }

  private mutating func refresh(at now: Duration) -> [Action] {
    guard query != nil else { return [] }
    let cancelled = cancelAll()
    let shown = previous ?? results
    previous = shown.items.isEmpty ? nil : shown
    results = beginning
    fallback = nil
    notBefore = now
    return cancelled + proceed(at: now, evenAfter: true)
  }

  private mutating func retry(at now: Duration) -> [Action] {
    guard failure != nil, liveTicket == nil else { return [] }
    if results.next == .ended { return refresh(at: now) }
    notBefore = now
    isNextWanted = true
    return proceed(at: now, evenAfter: true)
  }

  private mutating func delete(_ id: GalleryItem.ID, at now: Duration) -> [Action] {
    let former = previous?.delete(id.key)
    guard let photo = results.delete(id.key) ?? former else { return [] }
    return [.remove(photo)] + proceed(at: now)
  }

  /// Requests the needed pages that are not in flight yet.
  ///
  /// - Parameter evenAfter: Whether to request even after an error that does not pass by itself.
  mutating func proceed(at now: Duration, evenAfter isForced: Bool = false) -> [Action] {
    guard let query, isMoreWanted else { return [] }
    var actions: [Action] = []
    if liveTicket == nil, now >= notBefore, isForced || failure?.mayPass != false {
      actions += requestFromSource()
    }
    if storeTicket == nil {
      let fetch: GalleryFetch? =
        switch fallback {
        case .stored(let cursor): .stored(PhotoQuery(query, pageSize: results.pageSize), cursor)
        case .cached(let mark, _, _, _): .cached(after: mark, count: options.pageSize)
        case .exhausted, nil: nil
        }
      if let fetch { actions.append(start(fetch, as: \.storeTicket)) }
    }
    return actions
  }

  /// Requests the next page from the source.
  private mutating func requestFromSource() -> [Action] {
    guard let query else { return [] }
    let fetch: GalleryFetch
    switch results.next {
    case .page(let cursor): fetch = .page(PhotoQuery(query, pageSize: results.pageSize), cursor)
    case .random: fetch = .random(count: results.pageSize)
    case .ended: return []
    }
    pagesAheadOfSource = 0
    return [start(fetch, as: \.liveTicket)]
  }

  private var isMoreWanted: Bool {
    previous != nil || results.items.isEmpty || isNextWanted || results.items.count < itemsWanted
      || lastVisible.map { $0 >= results.items.count - Gallery.itemsBeforeEnd } ?? false
  }

  private mutating func start(_ fetch: GalleryFetch, as kind: WritableKeyPath<Self, Int?>) -> Action {
    lastTicket += 1
    self[keyPath: kind] = lastTicket
    return .fetch(fetch, ticket: lastTicket)
  }

  mutating func noteAdded(_ count: Int) {
    if count > 0 { isNextWanted = false }
  }

  mutating func forgetFailure() {
    failure = nil
    failures = 0
    notBefore = .zero
    fallback = nil
  }

  private mutating func cancelAll() -> [Action] {
    defer { liveTicket = nil }
    return (liveTicket.map { [.cancel(ticket: $0)] } ?? []) + cancelStored()
  }

  mutating func cancelStored() -> [Action] {
    defer { storeTicket = nil }
    return storeTicket.map { [.cancel(ticket: $0)] } ?? []
  }

  /// The results of the search before its first page.
  var beginning: SearchResults {
    let isRandom = query?.isEmpty == true && options.picksRandom
    return results.restarted(next: isRandom ? .random : .page(nil), pageSize: options.pageSize)
  }
}
