@testable import PhotoSources

/// Plays a gallery's owner: keeps what is under way, and answers it as a test says.
struct GalleryMachineDriver {
  var machine: GalleryMachine
  /// The time that has passed.
  var now = Duration.zero
  /// What is under way, by ticket.
  private(set) var running: [Int: GalleryFetch] = [:]
  /// All that was ever asked for, in order.
  private(set) var asked: [GalleryFetch] = []
  /// The photos that were to be removed.
  private(set) var removed: [String] = []

  init(_ configure: (inout Gallery.Options) -> Void = { _ in }) {
    var options = Gallery.Options()
    options.provider = "test"
    options.pageSize = 10
    options.hasStore = true
    options.picksRandom = false
    configure(&options)
    machine = GalleryMachine(options)
  }

  var state: GalleryState { machine.content.state }
  /// The ids of the photos shown.
  var ids: [String] { machine.content.items.map(\.photo.id) }
  /// The request to the source that is under way.
  var live: GalleryFetch? { running.values.first { $0.isLive } }
  /// The request to the store that is under way.
  var stored: GalleryFetch? { running.values.first { !$0.isLive } }

  mutating func send(_ event: GalleryMachine.Event) {
    for action in machine.handle(event, at: now) {
      switch action {
      case .fetch(let fetch, let ticket):
        running[ticket] = fetch
        asked.append(fetch)
      case .cancel(let ticket): running[ticket] = nil
      case .remove(let photo): removed.append(photo.id)
      }
    }
  }

  mutating func search(_ text: String) { send(.search(text)) }

  mutating func search(_ text: String, answered numbers: some Sequence<Int>, next: String? = nil, total: Int? = nil) {
    search(text)
    answer(numbers, next: next, total: total)
  }

  mutating func searchOffline(_ text: String) {
    search(text)
    lose()
  }

  mutating func show(_ index: Int, after time: Duration = .zero) {
    now += time
    send(.showed(index))
  }

  mutating func awake(after time: Duration) {
    now += time
    send(.awake)
  }

  /// The source answers with the photos of these numbers.
  mutating func answer(_ numbers: some Sequence<Int>, next: String? = nil, total: Int? = nil) {
    let page = PhotoPage(photos: numbers.map { Self.photo($0) }, next: next.map { PageCursor($0) }, total: total)
    finish(live: true, .live(.success(page)))
  }

  /// The source answers with an error.
  mutating func fail(_ error: ProviderError) { finish(live: true, .live(.failure(error))) }

  /// The source cannot be reached.
  mutating func lose() { fail(.unreachable(provider: "test", reason: "no network")) }

  /// The store has the page that was asked for.
  mutating func answerStored(_ numbers: some Sequence<Int>, next: String? = nil, pageSize: Int = 10) {
    let page = PhotoPage(photos: numbers.map { Self.photo($0) }, next: next.map { PageCursor($0) })
    finish(live: false, .stored(page, pageSize: pageSize))
  }

  /// The store has not.
  mutating func missStored() { finish(live: false, .stored(nil, pageSize: 10)) }

  /// The cache has these photos.
  mutating func answerCached(_ numbers: some Sequence<Int>, next: Int64? = nil) {
    finish(live: false, .cached(numbers.map { Self.photo($0) }, next: next))
  }

  private mutating func finish(live: Bool, _ answer: GalleryResponse) {
    guard let ticket = running.first(where: { $0.value.isLive == live })?.key else {
      Issue.record("nothing of that kind was asked for")
      return
    }
    running[ticket] = nil
    send(.response(answer, ticket: ticket))
  }

  static func photo(_ number: Int) -> Photo {
    Photo(id: "\(number)", provider: "test", source: Sample.source(number))
  }

  static func id(_ number: Int, round: Int = 0) -> GalleryItem.ID { GalleryItem.ID(photo(number), round: round) }
}

extension GalleryMachine {
  /// What cannot be true at the same time, given the requests that are under way; nil when all is well.
  func contradiction(asked: some Collection<GalleryFetch>) -> String? {
    let content = content
    let live = asked.count(where: \.isLive)
    if live > 1 || asked.count - live > 1 { return "two requests of one kind" }
    if live != (liveTicket == nil ? 0 : 1) || asked.count - live != (storeTicket == nil ? 0 : 1) {
      return "a request that is not known"
    }
    if Set(content.items.map(\.id)).count != content.items.count { return "an item twice" }
    if content.state.isLoading != !asked.isEmpty, content.state != .loading { return "loading nothing" }
    if case .empty = content.state, !content.items.isEmpty { return "empty with items" }
    if content.state == .loaded, content.items.isEmpty { return "loaded without items" }
    if content.state == .loadingNextPage, content.items.isEmpty { return "the next page without a first" }
    if case .offline = content.state, !content.isOffline { return "offline and not" }
    if content.query == nil, content.state != .idle { return "not idle" }
    return nil
  }
}

extension GalleryFetch {
  /// Whether the source is asked.
  var isLive: Bool {
    switch self {
    case .page, .random: true
    case .stored, .cached: false
    }
  }
}

/// Numbers as ids.
func ids(_ numbers: some Sequence<Int>) -> [String] { numbers.map { "\($0)" } }
