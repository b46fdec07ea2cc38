@testable import PhotoSources

/// A gallery's machine in a world of its own: a source, a network that comes and goes, a store, a cache and somebody who
/// scrolls. All answers come late, in any order, and some come after nobody wants them any more.
struct GalleryWorld {
  /// What the world is like.
  struct Nature {
    var hasStore = true
    var picksRandom = false
    /// Whether each page names a next one, also where there is nothing more.
    var isEndless = false
    /// Whether the source gets more photos now and then.
    var grows = false
  }

  /// Where a page stands in the store.
  private struct Place: Hashable {
    let text: String
    let pageSize: Int
    let cursor: PageCursor?
  }

  let nature: Nature
  private(set) var machine: GalleryMachine
  private(set) var now = Duration.zero
  private var random: SplitMix
  private(set) var running: [Int: GalleryFetch] = [:]
  /// What was cancelled and answers all the same.
  private var strays: [Int: GalleryFetch] = [:]
  private(set) var isOnline = true
  /// What the source answers next instead of a page.
  private var mishap: ProviderError?
  /// The source may not be asked before, unless somebody says so.
  private var quietUntil = Duration.zero
  private var photoCount: Int
  private var store: [Place: PhotoPage] = [:]
  private var cached: Set<Int> = []
  private var deleted: Set<String> = []
  /// What has happened, in words.
  private(set) var trail: [String] = []
  /// The first thing that should not be.
  private(set) var problem: String?

  init(seed: Int, _ nature: Nature) {
    self.nature = nature
    random = SplitMix(state: UInt64(seed))
    photoCount = Int.random(in: 0...14, using: &random)
    var options = Gallery.Options()
    options.provider = "test"
    options.pageSize = 3
    options.hasStore = nature.hasStore
    options.picksRandom = nature.picksRandom
    machine = GalleryMachine(options)
  }

  var content: GalleryContent { machine.content }

  // MARK: What happens

  /// Something happens, by chance.
  mutating func step() {
    let count = content.items.count
    switch Int.random(in: 0..<23, using: &random) {
    case 0: search(["a", "b", "", "a ", "never heard of"].randomElement(using: &random) ?? "a")
    case 1, 2: look(at: Int.random(in: 0...count + 1, using: &random))
    case 3, 4: look(at: count - 1)
    case 5: send(.next, "next")
    case 6: send(.retry, "retry", isOrder: true)
    case 7: send(.refresh, "refresh", isOrder: true)
    case 8: send(.wanted(items: count + Int.random(in: -2...5, using: &random)), "wanted")
    case 9: if let item = content.items.randomElement(using: &random) { delete(item) }
    case 10: setOnline(Bool.random(using: &random))
    case 11, 12: pass(.milliseconds(Int.random(in: 1...5_000, using: &random)))
    case 13: mishap = mishaps.randomElement(using: &random)
    case 14: makeThumbnails()
    case 15: if nature.grows { photoCount += 1 }
    case 16: answerStray()
    default: answerOne()
    }
  }

  private let mishaps: [ProviderError] = [
    .malformed(provider: "test", snippet: "<html>"), .rateLimited(provider: "test", retryAfter: .seconds(5)),
    .unauthorized(provider: "test"), .cancelled,
  ]

  mutating func search(_ text: String) { send(.search(text), "search “\(text)”", isOrder: true) }

  mutating func look(at index: Int) { send(.showed(index), "look at \(index)") }

  mutating func refresh() {
    send(.refresh, "refresh", isOrder: true)
    settle()
  }

  mutating func setOnline(_ isOnline: Bool) {
    self.isOnline = isOnline
    trail.append(isOnline ? "online" : "offline")
  }

  mutating func makeThumbnails() { cached.formUnion(content.items.compactMap { Int($0.photo.id) }) }

  private mutating func delete(_ item: GalleryItem) {
    deleted.insert(item.photo.id)
    send(.delete(item.id), "delete \(item.photo.id)")
  }

  private mutating func pass(_ time: Duration) {
    now += time
    if let wakeTime = machine.wakeTime, wakeTime <= now { send(.awake, "awake") }
  }

  /// One of those that were asked answers.
  mutating func answerOne() {
    guard let ticket = running.keys.sorted().randomElement(using: &random), let fetch = running[ticket] else { return }
    running[ticket] = nil
    send(.response(answer(fetch), ticket: ticket), "answer \(fetch)")
  }

  private mutating func answerStray() {
    guard let ticket = strays.keys.sorted().randomElement(using: &random), let fetch = strays[ticket] else { return }
    strays[ticket] = nil
    let (before, wasQuietUntil) = (content, quietUntil)
    let answer = answer(fetch)
    // What the source says to nobody cannot be kept.
    quietUntil = wasQuietUntil
    send(.response(answer, ticket: ticket), "too late: \(fetch)")
    if content != before { note("an answer that came too late was heard") }
  }

  /// All that were asked have answered, and nothing else is asked.
  mutating func settle() {
    for _ in 0..<500 {
      if running.isEmpty { return }
      answerOne()
    }
    note("it asks without an end")
  }

  /// The way back: everything works again, and somebody scrolls to the end.
  mutating func recover() {
    setOnline(true)
    mishap = nil
    if content.query == nil { search("a") }
    // What has come since is found only from the first page on.
    if nature.grows { send(.refresh, "refresh", isOrder: true) }
    for _ in 0..<200 {
      settle()
      pass(.seconds(1))
      if problem != nil { return }
      if case .failed(let error) = content.state, !error.mayPass {
        send(.retry, "retry", isOrder: true)
      } else if machine.wakeTime != nil {
        // By itself, without a word.
        pass(.seconds(61))
      } else if machine.failure != nil, machine.results.next == .ended {
        send(.retry, "retry", isOrder: true)
      } else if content.hasMore {
        send(.next, "next")
      } else {
        return checkEnd()
      }
    }
    note("it does not come to its end")
  }

  // MARK: What must hold

  private mutating func note(_ text: String) { problem = problem ?? text }

  private mutating func send(_ event: GalleryMachine.Event, _ name: String, isOrder: Bool = false) {
    trail.append(name)
    let before = content
    let mayReplace = machine.results.isSubstitute || machine.previous != nil
    if isOrder { quietUntil = .zero }
    for action in machine.handle(event, at: now) {
      switch action {
      case .fetch(let fetch, let ticket):
        running[ticket] = fetch
        if fetch.isLive, now < quietUntil { note("a source that wants to be left alone was asked") }
      case .cancel(let ticket): strays[ticket] = running.removeValue(forKey: ticket)
      case .remove(let photo): remove(photo)
      }
    }
    check(before, mayReplace: mayReplace)
  }

  private mutating func check(_ before: GalleryContent, mayReplace: Bool) {
    let content = content
    if let contradiction = machine.contradiction(asked: running.values) { note(contradiction) }
    if content.items.contains(where: { deleted.contains($0.photo.id) }) { note("a deleted photo is there") }
    if content.state == .loading, running.isEmpty { note("it waits for nothing") }
    if content.query == before.query, !mayReplace {
      let stays = before.items.filter { !deleted.contains($0.photo.id) }
      if !content.items.starts(with: stays) { note("what was there did not stay: \(before.items.count) photos") }
    }
  }

  private mutating func checkEnd() {
    if content.isOffline || machine.failure != nil { note("the source answers, and that is not seen") }
    guard let query = content.query else { return note("nothing was searched for") }
    let there = Set(content.items.map(\.photo.id))
    let wanted = Set(numbers(of: query).map { "\($0)" }).subtracting(deleted)
    // Without words, all that is cached may stand among them, and what is picked by chance need not be all.
    if query.isEmpty ? !nature.picksRandom && !there.isSuperset(of: wanted) : there != wanted {
      note("\(there.sorted()) is there instead of \(wanted.sorted())")
    }
  }

  // MARK: Who answers

  /// The photos that match, in the order of the source.
  private func numbers(of text: String) -> Range<Int> {
    switch text {
    case "", "a": 0..<photoCount
    case "b": 5..<5 + photoCount
    default: 0..<0
    }
  }

  private mutating func answer(_ fetch: GalleryFetch) -> GalleryResponse {
    switch fetch {
    case .page(let query, let cursor):
      return .live(live { $0.page(of: query, at: cursor) })
    case .random(let count):
      return .live(
        live { world in
          let some = world.numbers(of: "").shuffled(using: &world.random).prefix(count)
          return PhotoPage(photos: some.map { GalleryMachineDriver.photo($0) }, next: nil)
        })
    case .stored(let query, let cursor):
      let sizes = [query.pageSize, 3, 5]
      let known = cursor == nil ? sizes.first { store[Place(text: query.text, pageSize: $0, cursor: nil)] != nil } : nil
      let size = known ?? query.pageSize
      return .stored(store[Place(text: query.text, pageSize: size, cursor: cursor)], pageSize: size)
    case .cached(let mark, let count):
      let rest = cached.filter { Int64($0) < mark ?? .max }.sorted().reversed()
      let portion = rest.prefix(count)
      return .cached(
        portion.map { GalleryMachineDriver.photo($0) }, next: rest.count > count ? portion.last.map { Int64($0) } : nil)
    }
  }

  /// What the source answers, if it does.
  private mutating func live(_ page: (inout Self) -> PhotoPage) -> Result<PhotoPage, ProviderError> {
    guard isOnline else { return .failure(.unreachable(provider: "test", reason: "no network")) }
    if let error = mishap {
      mishap = nil
      if error.retryAfter > .zero { quietUntil = now + error.retryAfter }
      return .failure(error)
    }
    return .success(page(&self))
  }

  /// A page of the source, which the store keeps. Each begins with the last photo of the one before.
  private mutating func page(of query: PhotoQuery, at cursor: PageCursor?) -> PhotoPage {
    let number = cursor.flatMap { Int($0.token) } ?? 0
    let all = Array(numbers(of: query.text))
    let first = min(number * query.pageSize, all.count)
    let end = min(first + query.pageSize, all.count)
    let hasMore = nature.isEndless || end < all.count
    let page = PhotoPage(
      photos: all[max(0, first - 1)..<end].map { GalleryMachineDriver.photo($0) },
      next: hasMore ? PageCursor("\(number + 1)") : nil, total: all.count)
    store[Place(text: query.text, pageSize: query.pageSize, cursor: cursor)] = page
    return page
  }

  private mutating func remove(_ photo: Photo) {
    if let number = Int(photo.id) { cached.remove(number) }
    store = store.mapValues { page in
      var page = page
      page.photos.removeAll { $0.id == photo.id }
      return page
    }
  }

  /// A search was stored in pages of another size.
  mutating func storeInOtherPortions(_ text: String) {
    var cursor: PageCursor?
    repeat { cursor = page(of: PhotoQuery(text, pageSize: 5), at: cursor).next } while cursor != nil && store.count < 5
  }
}
