/// Decides which waiting download may start: limits in all and for each site, visible before prefetch, first come
/// first served within each. A pure value: its owner guards it and starts what it hands out.
///
/// A site at its limit does not hold back the others. Of visible and prefetch work that could both start, every
/// ninth comes from prefetch. Whoever has run before (a retry, a redirect) keeps its age. Starting one takes time
/// proportional to the number of sites that have something waiting, not to the number of downloads.
struct DownloadAdmission<Element> {
  /// Names a download from its first wait to its end.
  struct Ticket: Hashable, Sendable { fileprivate let number: UInt64 }

  private struct Waiting {
    let ticket: Ticket
    let element: Element
  }

  /// The line at a site in which a download waits.
  private enum Line: CaseIterable { case returning, fresh }

  private struct Site {
    var running = 0
    /// The most that may run at once here, as whoever asks for the least wants it.
    var maximum = Int.max
    var returning = TwoLevelQueue<Waiting>()
    var fresh = TwoLevelQueue<Waiting>()

    mutating func lower(to limit: Int) { maximum = min(maximum, max(1, limit)) }

    var isIdle: Bool { running == 0 && returning.isEmpty && fresh.isEmpty }

    mutating func with<Result>(_ line: Line, _ body: (inout TwoLevelQueue<Waiting>) -> Result) -> Result {
      switch line {
      case .returning: body(&returning)
      case .fresh: body(&fresh)
      }
    }
  }

  private struct Place {
    let site: String
    let line: Line
    let position: TwoLevelQueue<Waiting>.Ticket
  }

  private struct Candidate {
    let ticket: Ticket
    let site: Dictionary<String, Site>.Index
    let line: Line
  }

  /// The most that may run at once; lowering it lets running ones end.
  var maximum: Int
  /// The most that may run at once at one site.
  let maximumPerSite: Int
  /// After so many visible ones in a row, one prefetch goes first.
  let agingInterval = 8
  /// How many run now.
  private(set) var running = 0
  /// Sites where nothing may start for now: what waits there keeps its place and holds nobody back.
  var closedSites: Set<String> = []
  private var sites: [String: Site] = [:]
  private var places: [Ticket: Place] = [:]
  private var lastNumber: UInt64 = 0
  private var visibleInARow = 0

  init(maximum: Int, maximumPerSite: Int) {
    self.maximum = max(1, maximum)
    self.maximumPerSite = max(1, maximumPerSite)
  }

  /// How many wait now.
  var waiting: Int { places.count }

  /// Whether anything waits at a site.
  func waits(at site: String) -> Bool { sites[site].map { !$0.returning.isEmpty || !$0.fresh.isEmpty } ?? false }

  /// Puts a download in line. With the ticket of its earlier wait it keeps its age. A `limit` below `maximumPerSite`
  /// counts for everybody at the site until nothing runs or waits there.
  mutating func enqueue(
    _ element: Element, site name: String, at level: Priority, limit: Int? = nil, returning: Ticket? = nil
  ) -> Ticket {
    lastNumber += 1
    let ticket = returning ?? Ticket(number: lastNumber)
    let line: Line = returning == nil ? .fresh : .returning
    let position = sites[name, default: Site()].with(line) {
      $0.enqueue(Waiting(ticket: ticket, element: element), at: level)
    }
    places[ticket] = Place(site: name, line: line, position: position)
    if let limit { sites[name]?.lower(to: limit) }
    return ticket
  }

  /// Moves a waiting download to the end of another level's line.
  mutating func move(_ ticket: Ticket, to level: Priority) {
    guard let place = places[ticket] else { return }
    sites[place.site]?.with(place.line) { $0.move(place.position, to: level) }
  }

  /// Takes a download out of its line; nil when it has started or gone.
  mutating func remove(_ ticket: Ticket) -> Element? {
    guard let place = places.removeValue(forKey: ticket) else { return nil }
    let removed = sites[place.site]?.with(place.line) { $0.remove(place.position) }
    forgetIfIdle(place.site)
    return removed?.element
  }

  /// Takes those out of their lines at one site that `condition` holds for. Takes time proportional to all that wait.
  mutating func removeAll(at site: String, where condition: (Element) -> Bool) -> [Element] {
    let candidates = places.filter { $0.value.site == site }.keys.sorted { $0.number < $1.number }
    return candidates.compactMap { ticket in
      guard let element = element(of: ticket), condition(element) else { return nil }
      return remove(ticket)
    }
  }

  private func element(of ticket: Ticket) -> Element? {
    guard let place = places[ticket], let site = sites[place.site] else { return nil }
    return (place.line == .returning ? site.returning : site.fresh).element(of: place.position)?.element
  }

  /// Takes back the slot of a download that ended.
  mutating func release(site name: String) {
    running -= 1
    sites[name]?.running -= 1
    forgetIfIdle(name)
  }

  /// Gives a slot to the download whose turn it is; nil when none may start. To be called until it says nil.
  mutating func admitNext() -> Element? {
    guard running < maximum, !places.isEmpty else { return nil }
    let visible = oldest(at: .visible)
    let prefetch = oldest(at: .prefetch)
    let takesPrefetch = visible == nil || (prefetch != nil && visibleInARow >= agingInterval)
    guard let chosen = takesPrefetch ? prefetch : visible else { return nil }
    visibleInARow = takesPrefetch || prefetch == nil ? 0 : visibleInARow + 1
    let waiting = sites.values[chosen.site].with(chosen.line) { $0.dequeue(at: takesPrefetch ? .prefetch : .visible) }
    places.removeValue(forKey: chosen.ticket)
    sites.values[chosen.site].running += 1
    running += 1
    return waiting?.element
  }

  /// The oldest download of a level that could start now.
  private mutating func oldest(at level: Priority) -> Candidate? {
    var oldest: Candidate?
    // Not `for index in sites.indices`, which holds a second reference: every change would copy the dictionary.
    var next = sites.startIndex
    while next != sites.endIndex {
      let index = next
      sites.formIndex(after: &next)
      guard sites.values[index].running < min(maximumPerSite, sites.values[index].maximum),
        closedSites.isEmpty || !closedSites.contains(sites.keys[index])
      else { continue }
      for line in Line.allCases {
        guard let head = sites.values[index].with(line, { $0.peek(at: level) }) else { continue }
        if oldest.map({ head.ticket.number < $0.ticket.number }) ?? true {
          oldest = Candidate(ticket: head.ticket, site: index, line: line)
        }
      }
    }
    return oldest
  }

  private mutating func forgetIfIdle(_ name: String) {
    if sites[name]?.isIdle == true { sites.removeValue(forKey: name) }
  }
}
