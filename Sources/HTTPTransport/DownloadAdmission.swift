import ThumbnailCore

/// Admission: decides which waiting download may start. Limits in total and per site, visible before prefetch, first
/// come, first served within each. A pure value: its owner synchronises it and carries out the steps it returns.
///
/// A site at its limit does not hold back the others. If visible and prefetch work could both start, every ninth start
/// is a prefetch. A download that has run before (a retry, a redirect) keeps its age; one that was deferred because its
/// server was silent comes after all others of its level. A start takes time proportional to the number of sites with
/// waiting downloads, not to the number of downloads.
///
/// `DownloadAdmission+Lending` handles the slots of silent transfers.
struct DownloadAdmission<Element> {
  /// Identifies a download from its first wait to its end.
  struct Ticket: Hashable, Sendable { fileprivate let number: UInt64 }

  /// What the owner must do next.
  enum Step {
    /// Start this download: it has a slot.
    case start(Element)
    /// Stop this transfer, release its slot, and enqueue it again as deferred.
    case putOff(Element)
  }

  fileprivate struct Waiting {
    let ticket: Ticket
    let element: Element
  }

  /// The queue of a site that a download waits in.
  fileprivate enum Line { case returning, fresh, deferred }

  struct Site {
    /// The slots in use, lent ones excluded.
    var running = 0
    /// The transfers that have lent their slot.
    var lent = 0
    /// The most concurrent transfers here: the lowest limit that any of its downloads asked for.
    var maximum = Int.max
    /// How often it has responded to a request or ended a silence.
    var responses = 0
    /// The slots it gave up since it last responded.
    var unanswered = 0
    /// Its response times.
    var times = ResponseTimes()
    fileprivate var returning = TwoLevelQueue<Waiting>()
    fileprivate var fresh = TwoLevelQueue<Waiting>()
    fileprivate var deferred = TwoLevelQueue<Waiting>()

    mutating func lower(to limit: Int) { maximum = min(maximum, max(1, limit)) }

    /// Whether downloads wait that were not deferred.
    var hasOthersWaiting: Bool { !returning.isEmpty || !fresh.isEmpty }
    /// Whether some of its transfers are known to be silent or deferred.
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

  /// A running download.
  struct Run {
    enum Slot { case own, lent }

    let site: String
    let element: Element
    var slot = Slot.own
    /// When it fell silent; nil while it is not silent.
    var silentSince: ContinuousClock.Instant?
    /// The site's `responses` at that time.
    var responsesBefore = 0
    /// Whether it was told to stop.
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

  /// The most concurrent downloads.
  let maximum: Int
  /// The most concurrent downloads at one site.
  let maximumPerSite: Int
  let rules: SilencePolicy
  /// After this many visible downloads in a row, one prefetch starts.
  let agingInterval = 8
  /// Sites where nothing may start for now; their waiting downloads keep their positions and do not block other sites.
  var closedSites: Set<String> = []
  /// The number of slots in use, lent ones excluded.
  var running = 0
  /// The number of running transfers with a lent slot.
  var lent = 0
  var sites: [String: Site] = [:]
  var runs: [Ticket: Run] = [:]
  /// The silent transfers, longest silence first, with lent slots and with their own.
  var silent: [Ticket] = []
  private var places: [Ticket: Place] = [:]
  private var lastNumber: UInt64 = 0
  private var visibleInARow = 0

  init(maximum: Int, maximumPerSite: Int, rules: SilencePolicy = SilencePolicy()) {
    self.maximum = max(1, maximum)
    self.maximumPerSite = max(1, maximumPerSite)
    self.rules = rules
  }

  /// The number of waiting downloads.
  var waiting: Int { places.count }

  /// Whether any download waits at a site.
  func waits(at site: String) -> Bool { sites[site].map { $0.hasOthersWaiting || !$0.deferred.isEmpty } ?? false }

  /// Enqueues a download. The ticket of its earlier wait keeps its age. A `limit` below `maximumPerSite` applies to the
  /// whole site until nothing runs or waits there. A `deferred` one comes after all others.
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

  /// Moves a waiting download to the end of the other level's queue.
  mutating func move(_ ticket: Ticket, to level: Priority) {
    guard let place = places[ticket] else { return }
    sites[place.site]?.with(place.line) { $0.move(place.position, to: level) }
  }

  /// Removes a waiting download; nil when it has started or is gone.
  mutating func remove(_ ticket: Ticket) -> Element? {
    guard let place = places.removeValue(forKey: ticket) else { return nil }
    let removed = sites[place.site]?.with(place.line) { $0.remove(place.position) }
    forgetIfIdle(place.site)
    return removed?.element
  }

  /// Removes the waiting downloads of one site that match. Takes time proportional to the number of all that wait.
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

  /// Releases the slot of a download that ended.
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

  /// The next step; nil when there is none. Call it until it returns nil.
  mutating func nextStep(at now: ContinuousClock.Instant) -> Step? {
    if let next = admitNext() { return .start(next) }
    return nextToPutOff(at: now).map { .putOff($0) }
  }

  /// Gives a slot to the next download; nil when none may start.
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

  /// Whether a site is below its limit.
  func hasFreeSlot(_ site: Site) -> Bool { site.running < min(maximumPerSite, site.maximum) }

  /// The oldest download of a level that could start now; deferred ones only if there is no other.
  private mutating func oldest(at level: Priority) -> Candidate? {
    oldest(at: level, in: [.returning, .fresh]) ?? oldest(at: level, in: [.deferred])
  }

  private mutating func oldest(at level: Priority, in lines: [Line]) -> Candidate? {
    var oldest: Candidate?
    // `for index in sites.indices` would hold a second reference, so that every mutation would copy the dictionary.
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
