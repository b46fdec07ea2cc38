/// Decides what a gallery asks for and what it shows. A pure value without I/O and without a clock: its owner tells it
/// what happens, and when, and carries out the actions it returns.
///
/// At most one request to the source is under way, and at most one to the store. Answers carry the ticket of their
/// request: one that came too late, because something else was searched for meanwhile, is not heard.
///
/// When the source cannot be reached, the store goes on where it stopped, while the source is asked again from time to
/// time, always for the page that is really next: its answer ends the offline state, whatever the store was doing.
struct GalleryMachine {
  /// What can be set.
  struct Options {
    var provider = ""
    var pageSize = 30
    var trigger = NextPageTrigger.standard
    /// Whether pages go on to be loaded while nobody looks.
    var loadsWhileHidden = true
    /// Whether a search without words takes photos by chance.
    var picksRandom = false
    /// Whether pages are stored.
    var hasStore = false
    /// Whether the source gives nothing but what is stored, without a network.
    var isOffline = false
    /// How long the source is left alone after a failure; twice that after the next, and so on.
    var firstPause = Duration.seconds(1)
    /// The longest pause, unless the source asks for more.
    var longestPause = Duration.seconds(60)
  }

  /// What happens.
  enum Event {
    case search(String)
    case refresh
    case retry
    /// The next page is wanted, whatever the trigger.
    case next
    case viewport(GalleryViewport)
    /// There should be so many photos, since the view moves towards the last of them.
    case wanted(items: Int)
    /// The view came, or went away.
    case shown(Bool)
    case delete(GalleryItem.ID)
    /// It is `wakeTime`.
    case awake
    case answer(GalleryResponse, ticket: Int)
  }

  /// What the owner has to do.
  enum Action: Equatable {
    /// Ask, then hand over the answer with the ticket.
    case fetch(GalleryFetch, ticket: Int)
    /// The answer is not wanted any more.
    case cancel(ticket: Int)
    /// Take the photo out of the caches.
    case remove(Photo)
  }

  /// What is to be had while the source cannot be reached.
  enum Feed: Equatable {
    /// The stored page at this place.
    case stored(PageCursor?)
    /// All cached photos, again and again. Counts what has come in this round, and what of it was not there before.
    case cached(after: Int64?, round: Int, came: Int, added: Int)
    /// No more.
    case exhausted
  }

  let options: Options
  /// The name of the source.
  var provider: String
  var query: String?
  var listing: SearchResults
  /// What is shown until the first page of a repeated search has come.
  var previous: SearchResults?
  var feed: Feed?
  var failure: ProviderError?
  /// The requests that are under way.
  var liveTicket: Int?
  var storeTicket: Int?
  /// The pages that the store has given since the source was asked last, the one it was asked for and those behind it.
  var pagesAheadOfSource = 0
  private var failures = 0
  private var notBefore = Duration.zero
  private var lastTicket = 0
  private var viewport = GalleryViewport()
  private var isShown = true
  private var isNextWanted = false
  private var itemsWanted = 0

  init(_ options: Options) {
    self.options = options
    provider = options.provider
    listing = SearchResults(next: .ended, pageSize: options.pageSize)
  }

  /// Takes in what happened at a time, counted from any fixed moment.
  mutating func handle(_ event: Event, at now: Duration) -> [Action] {
    switch event {
    case .search(let text): search(text, at: now)
    case .refresh: refresh(at: now)
    case .retry: retry(at: now)
    case .next: want(at: now)
    case .viewport(let viewport): look(viewport, at: now)
    case .wanted(let items): want(items: items, at: now)
    case .shown(let isShown): show(isShown, at: now)
    case .delete(let id): delete(id, at: now)
    case .awake: proceed(at: now)
    case .answer(let answer, let ticket): take(answer, ticket, at: now)
    }
  }

  /// When to tell that it is time, if nothing happens before: more is wanted of a source that has failed, and may answer
  /// by then. Nil where nothing follows from the time alone.
  var wakeTime: Duration? {
    guard query != nil, failure?.mayPass == true, liveTicket == nil, listing.next != .ended,
      isShown || options.loadsWhileHidden, isMoreWanted
    else { return nil }
    return notBefore
  }

  private mutating func search(_ text: String, at now: Duration) -> [Action] {
    let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    if words == query { return failure == nil ? [] : retry(at: now) }
    let cancelled = cancelAll()
    query = words
    previous = nil
    listing = beginning
    forgetFailure()
    viewport = GalleryViewport()
    isNextWanted = false
    itemsWanted = 0
    return cancelled + proceed(at: now)
  }

  private mutating func refresh(at now: Duration) -> [Action] {
    guard query != nil else { return [] }
    let cancelled = cancelAll()
    let shown = previous ?? listing
    previous = shown.items.isEmpty ? nil : shown
    listing = beginning
    feed = nil
    notBefore = now
    return cancelled + proceed(at: now, evenAfter: true)
  }

  private mutating func retry(at now: Duration) -> [Action] {
    guard failure != nil, liveTicket == nil else { return [] }
    if listing.next == .ended { return refresh(at: now) }
    notBefore = now
    isNextWanted = true
    return proceed(at: now, evenAfter: true)
  }

  private mutating func want(at now: Duration) -> [Action] {
    isNextWanted = true
    return proceed(at: now)
  }

  private mutating func want(items: Int, at now: Duration) -> [Action] {
    itemsWanted = items
    return proceed(at: now)
  }

  private mutating func look(_ viewport: GalleryViewport, at now: Duration) -> [Action] {
    self.viewport = viewport
    return proceed(at: now)
  }

  private mutating func show(_ isShown: Bool, at now: Duration) -> [Action] {
    self.isShown = isShown
    guard !options.loadsWhileHidden else { return [] }
    if isShown { return proceed(at: now) }
    isNextWanted = isNextWanted || liveTicket != nil || storeTicket != nil
    return cancelAll()
  }

  private mutating func delete(_ id: GalleryItem.ID, at now: Duration) -> [Action] {
    let former = previous?.delete(id.key)
    guard let photo = listing.delete(id.key) ?? former else { return [] }
    return [.remove(photo)] + proceed(at: now)
  }

  /// Asks for what is wanted and not under way.
  ///
  /// - Parameter evenAfter: Whether the source is asked even after an error that does not pass by itself.
  mutating func proceed(at now: Duration, evenAfter isForced: Bool = false) -> [Action] {
    guard let query, isShown || options.loadsWhileHidden, isMoreWanted else { return [] }
    var actions: [Action] = []
    if liveTicket == nil, now >= notBefore, isForced || failure?.mayPass != false {
      let fetch: GalleryFetch? =
        switch listing.next {
        case .page(let cursor): .page(PhotoQuery(query, pageSize: listing.pageSize), cursor)
        case .random: .random(count: listing.pageSize)
        case .ended: nil
        }
      if let fetch {
        pagesAheadOfSource = 0
        actions.append(start(fetch, as: \.liveTicket))
      }
    }
    if storeTicket == nil {
      let fetch: GalleryFetch? =
        switch feed {
        case .stored(let cursor): .stored(PhotoQuery(query, pageSize: listing.pageSize), cursor)
        case .cached(let mark, _, _, _): .cached(after: mark, count: options.pageSize)
        case .exhausted, nil: nil
        }
      if let fetch { actions.append(start(fetch, as: \.storeTicket)) }
    }
    return actions
  }

  private var isMoreWanted: Bool {
    previous != nil || listing.items.isEmpty || isNextWanted || listing.items.count < itemsWanted
      || options.trigger.fires(at: viewport, itemCount: listing.items.count, pageSize: listing.pageSize)
  }

  private mutating func start(_ fetch: GalleryFetch, as kind: WritableKeyPath<Self, Int?>) -> Action {
    lastTicket += 1
    self[keyPath: kind] = lastTicket
    return .fetch(fetch, ticket: lastTicket)
  }

  /// Photos were added: what the view told about its end holds no more.
  mutating func noteAdded(_ count: Int) {
    guard count > 0 else { return }
    isNextWanted = false
    viewport.pixelsToEnd = nil
    viewport.showsEnd = false
  }

  mutating func noteFailure(_ error: ProviderError, at now: Duration) {
    failure = error
    let pause = min(options.firstPause * (1 << min(failures, 16)), options.longestPause)
    failures += 1
    notBefore = now + max(pause, error.wish)
  }

  mutating func forgetFailure() {
    failure = nil
    failures = 0
    notBefore = .zero
    feed = nil
  }

  private mutating func cancelAll() -> [Action] {
    defer { liveTicket = nil }
    return (liveTicket.map { [.cancel(ticket: $0)] } ?? []) + cancelStored()
  }

  mutating func cancelStored() -> [Action] {
    defer { storeTicket = nil }
    return storeTicket.map { [.cancel(ticket: $0)] } ?? []
  }

  /// The search before its first page.
  var beginning: SearchResults {
    let isRandom = query?.isEmpty == true && options.picksRandom
    return listing.restarted(next: isRandom ? .random : .page(nil), pageSize: options.pageSize)
  }
}
