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
    case preempt(Element)
  }

  fileprivate struct Waiting {
    let ticket: Ticket
    let element: Element
  }

  /// The queues of a site: downloads that have run before, new ones, and deferred ones.
  fileprivate enum Queue: Int { case returning, fresh, deferred }

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
    var lentSinceResponse = 0
    /// Its response times.
    var times = ResponseTimes()
    /// By the raw value of `Queue`.
    fileprivate var queues = Array(repeating: TwoLevelQueue<Waiting>(), count: 3)

    mutating func lower(to limit: Int) { maximum = min(maximum, max(1, limit)) }

    fileprivate subscript(queue: Queue) -> TwoLevelQueue<Waiting> {
      _read { yield queues[queue.rawValue] }
      _modify { yield &queues[queue.rawValue] }
    }

    /// Whether downloads wait that were not deferred.
    var hasOthersWaiting: Bool { !self[.returning].isEmpty || !self[.fresh].isEmpty }
    /// Whether any download waits.
    var hasWaiting: Bool { hasOthersWaiting || !self[.deferred].isEmpty }
    /// Whether some of its transfers are known to be silent or deferred.
    var hasStragglers: Bool { lent > 0 || !self[.deferred].isEmpty }

    fileprivate var isIdle: Bool { running == 0 && lent == 0 && !hasWaiting }
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
    var responsesBeforeSilence = 0
    /// Whether it was told to stop.
    var isPreempted = false
  }

  private struct Position {
    let site: String
    let queue: Queue
    let ticket: TwoLevelQueue<Waiting>.Ticket
  }

  private struct Candidate {
    let ticket: Ticket
    let site: Dictionary<String, Site>.Index
    let queue: Queue

    private var rank: (Int, UInt64) { (queue == .deferred ? 1 : 0, ticket.number) }

    /// Takes the place of a candidate that comes after it.
    func replace(_ other: inout Candidate?) {
      if other.map({ rank < $0.rank }) ?? true { other = self }
    }
  }

  /// The most concurrent downloads.
  let maximum: Int
  /// The most concurrent downloads at one site.
  let maximumPerSite: Int
  let policy: SilencePolicy
  /// Sites where nothing may start for now; their waiting downloads keep their positions and do not block other sites.
  var heldSites: Set<String> = []
  /// The number of slots in use, lent ones excluded.
  var running = 0
  /// The number of running transfers with a lent slot.
  var lent = 0
  var sites: [String: Site] = [:]
  var runs: [Ticket: Run] = [:]
  /// The silent transfers, longest silence first, with lent slots and with their own.
  var silent: [Ticket] = []
  private var queued: [Ticket: Position] = [:]
  private var lastNumber: UInt64 = 0
  private var aging = PriorityAging()

  init(maximum: Int, maximumPerSite: Int, policy: SilencePolicy = SilencePolicy()) {
    self.maximum = max(1, maximum)
    self.maximumPerSite = max(1, maximumPerSite)
    self.policy = policy
  }

  /// The number of waiting downloads.
  var waiting: Int { queued.count }

  /// Whether any download waits at a site.
  func waits(at site: String) -> Bool { sites[site]?.hasWaiting ?? false }

  /// Whether more than one download runs or waits at a site.
  func isShared(_ name: String) -> Bool {
    guard let site = sites[name] else { return false }
    return site.running + site.lent > 1 || site.hasWaiting
  }

  /// Enqueues a download. The ticket of its earlier wait keeps its age. A `limit` below `maximumPerSite` applies to the
  /// whole site until nothing runs or waits there. A `deferred` one comes after all others.
  mutating func enqueue(
    _ element: Element, site name: String, at level: Priority, limit: Int? = nil, returning: Ticket? = nil,
    deferred: Bool = false
  ) -> Ticket {
    lastNumber += 1
    let ticket = returning ?? Ticket(number: lastNumber)
    let queue: Queue = deferred ? .deferred : returning == nil ? .fresh : .returning
    let position = sites[name, default: Site()][queue].enqueue(Waiting(ticket: ticket, element: element), at: level)
    queued[ticket] = Position(site: name, queue: queue, ticket: position)
    if let limit { sites[name]?.lower(to: limit) }
    return ticket
  }

  /// Moves a waiting download to the end of the other level's queue.
  mutating func move(_ ticket: Ticket, to level: Priority) {
    guard let position = queued[ticket] else { return }
    sites[position.site]?[position.queue].move(position.ticket, to: level)
  }

  /// Removes a waiting download; nil when it has started or is gone.
  mutating func remove(_ ticket: Ticket) -> Element? {
    guard let position = queued.removeValue(forKey: ticket) else { return nil }
    let removed = sites[position.site]?[position.queue].remove(position.ticket)
    removeIfIdle(position.site)
    return removed?.element
  }

  /// Removes the waiting downloads of one site that match. Takes time proportional to the number of all that wait.
  mutating func removeAll(at site: String, where condition: (Element) -> Bool) -> [Element] {
    let candidates = queued.filter { $0.value.site == site }.keys.sorted { $0.number < $1.number }
    return candidates.compactMap { ticket in
      guard let element = element(of: ticket), condition(element) else { return nil }
      return remove(ticket)
    }
  }

  private func element(of ticket: Ticket) -> Element? {
    queued[ticket].flatMap { sites[$0.site]?[$0.queue].element(of: $0.ticket)?.element }
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
    lendSlots()
    removeIfIdle(run.site)
  }

  /// The next step; nil when there is none. Call it until it returns nil.
  mutating func nextStep(at now: ContinuousClock.Instant) -> Step? {
    if let next = admitNext() { return .start(next) }
    return nextToPreempt(at: now).map { .preempt($0) }
  }

  /// Gives a slot to the next download; nil when none may start.
  private mutating func admitNext() -> Element? {
    guard running < maximum, !queued.isEmpty else { return nil }
    let (visible, prefetch) = oldest()
    guard let level = aging.next(visibleWaits: visible != nil, prefetchWaits: prefetch != nil),
      let chosen = level == .visible ? visible : prefetch
    else { return nil }
    aging.take(level, prefetchWaits: prefetch != nil)
    let waiting = sites.values[chosen.site][chosen.queue].dequeue(at: level)
    queued.removeValue(forKey: chosen.ticket)
    sites.values[chosen.site].running += 1
    running += 1
    if let waiting { runs[chosen.ticket] = Run(site: sites.keys[chosen.site], element: waiting.element) }
    return waiting?.element
  }

  /// Whether a site is below its limit.
  func hasFreeSlot(_ site: Site) -> Bool { site.running < min(maximumPerSite, site.maximum) }

  /// The oldest download of each level that could start now; a deferred one only if there is no other.
  private mutating func oldest() -> (visible: Candidate?, prefetch: Candidate?) {
    var oldest: (visible: Candidate?, prefetch: Candidate?)
    // `for index in sites.indices` would hold a second reference, so that every mutation would copy the dictionary.
    var next = sites.startIndex
    while next != sites.endIndex {
      let index = next
      sites.formIndex(after: &next)
      guard hasFreeSlot(sites.values[index]), heldSites.isEmpty || !heldSites.contains(sites.keys[index]) else {
        continue
      }
      for queue in [Queue.returning, .fresh, .deferred] where !sites.values[index][queue].isEmpty {
        if let head = sites.values[index][queue].peek(at: .visible) {
          Candidate(ticket: head.ticket, site: index, queue: queue).replace(&oldest.visible)
        }
        if let head = sites.values[index][queue].peek(at: .prefetch) {
          Candidate(ticket: head.ticket, site: index, queue: queue).replace(&oldest.prefetch)
        }
      }
    }
    return oldest
  }

  private mutating func removeIfIdle(_ name: String) {
    if sites[name]?.isIdle == true { sites.removeValue(forKey: name) }
  }
}
