import ThumbnailCore

/// Decides which waiting download may start: limits in all and for each site, visible before prefetch, first come
/// first served within each. A pure value: its owner guards it and does what it hands out.
///
/// A site at its limit does not hold back the others. Of visible and prefetch work that could both start, every
/// ninth comes from prefetch. Whoever has run before (a retry, a redirect) keeps its age; whoever was put off, since its
/// server was silent, comes after all others of its level. Starting one takes time proportional to the number of sites
/// that have something waiting, not to the number of downloads.
///
/// What becomes of the slots of silent transfers stands in `DownloadAdmission+Lending`.
struct DownloadAdmission<Element> {
  /// Names a download from its first wait to its end.
  struct Ticket: Hashable, Sendable { fileprivate let number: UInt64 }

  /// What the owner has to do.
  enum Step {
    /// Begin this download: it has a slot.
    case start(Element)
    /// Stop this transfer, release its slot, and put it in line again as deferred.
    case putOff(Element)
  }

  fileprivate struct Waiting {
    let ticket: Ticket
    let element: Element
  }

  /// The line at a site in which a download waits.
  fileprivate enum Line { case returning, fresh, deferred }

  struct Site {
    /// The slots in use.
    var running = 0
    /// The transfers that have lent their slot.
    var lent = 0
    /// The most that may run at once here, as whoever asks for the least wants it.
    var maximum = Int.max
    /// How often something was heard from it after a request or a silence.
    var answers = 0
    /// The slots it gave up since it was last heard.
    var unanswered = 0
    /// What its answers take.
    var times = ResponseTimes()
    fileprivate var returning = TwoLevelQueue<Waiting>()
    fileprivate var fresh = TwoLevelQueue<Waiting>()
    fileprivate var deferred = TwoLevelQueue<Waiting>()

    mutating func lower(to limit: Int) { maximum = min(maximum, max(1, limit)) }

    /// Whether something waits that has not been put off.
    var hasOthersWaiting: Bool { !returning.isEmpty || !fresh.isEmpty }
    /// Whether some of its pictures are known to be waited for in vain so far.
    var hasStragglers: Bool { lent > 0 || !deferred.isEmpty }

    fileprivate var isIdle: Bool { running == 0 && lent == 0 && !hasOthersWaiting && deferred.isEmpty }

    fileprivate mutating func with<Result>(_ line: Line, _ body: (inout TwoLevelQueue<Waiting>) -> Result) -> Result {
      switch line {
      case .returning: body(&returning)
      case .fresh: body(&fresh)
      case .deferred: body(&deferred)
      }
    }
  }

  /// A download between its start and its end.
  struct Run {
    enum Slot { case own, lent }

    let site: String
    let element: Element
    var slot = Slot.own
    /// Since when it is silent; nil while it is not.
    var silentSince: ContinuousClock.Instant?
    /// What had been heard of its site by then.
    var answersBefore = 0
    /// It was told to stop.
    var isPutOff = false
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
  let rules: LendingRules
  /// After so many visible ones in a row, one prefetch goes first.
  let agingInterval = 8
  /// Sites where nothing may start for now: what waits there keeps its place and holds nobody back.
  var closedSites: Set<String> = []
  /// How many slots are in use now.
  var running = 0
  /// How many transfers run without one: they have lent it.
  var lent = 0
  var sites: [String: Site] = [:]
  var runs: [Ticket: Run] = [:]
  /// The silent ones, the oldest silence first; those that have lent their slot, and those that have not.
  var silent: [Ticket] = []
  private var places: [Ticket: Place] = [:]
  private var lastNumber: UInt64 = 0
  private var visibleInARow = 0

  init(maximum: Int, maximumPerSite: Int, rules: LendingRules = LendingRules()) {
    self.maximum = max(1, maximum)
    self.maximumPerSite = max(1, maximumPerSite)
    self.rules = rules
  }

  /// How many wait now.
  var waiting: Int { places.count }

  /// Whether anything waits at a site.
  func waits(at site: String) -> Bool { sites[site].map { $0.hasOthersWaiting || !$0.deferred.isEmpty } ?? false }

  /// Puts a download in line. With the ticket of its earlier wait it keeps its age. A `limit` below `maximumPerSite`
  /// counts for everybody at the site until nothing runs or waits there. One that is `deferred` goes after all others.
  mutating func enqueue(
    _ element: Element, site name: String, at level: Priority, limit: Int? = nil, returning: Ticket? = nil,
    deferred: Bool = false
  ) -> Ticket {
    lastNumber += 1
    let ticket = returning ?? Ticket(number: lastNumber)
    let line: Line = deferred ? .deferred : returning == nil ? .fresh : .returning
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
    let line =
      switch place.line {
      case .returning: site.returning
      case .fresh: site.fresh
      case .deferred: site.deferred
      }
    return line.element(of: place.position)?.element
  }

  /// Takes back the slot of a download that ended.
  mutating func release(_ ticket: Ticket) {
    guard let run = runs.removeValue(forKey: ticket) else { return }
    silent.removeAll { $0 == ticket }
    switch run.slot {
    case .own:
      running -= 1
      sites[run.site]?.running -= 1
    case .lent:
      lent -= 1
      sites[run.site]?.lent -= 1
    }
    lendWhatCanBe()
    forgetIfIdle(run.site)
  }

  /// What to do next; nil when there is nothing. To be called until it says nil.
  mutating func nextStep(at now: ContinuousClock.Instant) -> Step? {
    if let next = admitNext() { return .start(next) }
    return nextToPutOff(at: now).map { .putOff($0) }
  }

  /// Gives a slot to the download whose turn it is; nil when none may start.
  private mutating func admitNext() -> Element? {
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
    if let waiting { runs[chosen.ticket] = Run(site: sites.keys[chosen.site], element: waiting.element) }
    return waiting?.element
  }

  /// Whether a site has a slot to give.
  func hasFreeSlot(_ site: Site) -> Bool { site.running < min(maximumPerSite, site.maximum) }

  /// The oldest download of a level that could start now; of those put off, where there is no other.
  private mutating func oldest(at level: Priority) -> Candidate? {
    oldest(at: level, in: [.returning, .fresh]) ?? oldest(at: level, in: [.deferred])
  }

  private mutating func oldest(at level: Priority, in lines: [Line]) -> Candidate? {
    var oldest: Candidate?
    // Not `for index in sites.indices`, which holds a second reference: every change would copy the dictionary.
    var next = sites.startIndex
    while next != sites.endIndex {
      let index = next
      sites.formIndex(after: &next)
      guard hasFreeSlot(sites.values[index]), closedSites.isEmpty || !closedSites.contains(sites.keys[index]) else {
        continue
      }
      for line in lines {
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
