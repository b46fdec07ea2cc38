import DequeModule
import ThumbnailCore

/// Identifies a download from its first wait to its end.
package struct DownloadTicket: Hashable, Sendable { let number: UInt64 }

/// Admission: decides which waiting download may start. Limits in total and per site, visible before prefetch, first
/// come, first served within each. A pure value: its owner synchronises it and carries out the steps it returns.
///
/// A site at its limit does not hold back the others. If visible and prefetch work could both start, every ninth start
/// is a prefetch. A download that has run before (a retry, a redirect) keeps its age; one that was deferred because it
/// failed or its server was silent comes after all others of its level. A start takes time proportional to the number
/// of sites with waiting downloads, not to the number of downloads.
///
/// At a held host (`HostHealth`) only trials start. Its other downloads wait, or fail at once if they do not wait for
/// hosts (`DownloadAdmission+Hosts`). Silent transfers lend their slots (`DownloadAdmission+Lending`).
struct DownloadAdmission<Element> {
  /// A step that the owner must carry out.
  enum Step {
    /// Start this download, which has a slot.
    case start(Element)
    /// Stop this transfer, release its slot, and enqueue it again as deferred.
    case preempt(Element)
    /// Fail this waiting download, because its host is held.
    case fail(Element, HostHealth.Hold)
    /// Stop counting this download as in flight, because it waits for a held host.
    case park(Element)
    /// Request an image again that this site has sent, and call `probed`.
    case probe(site: String, DownloadTicket)
    /// Tell other processes that this site is held.
    case share(site: String, HostHealth.Hold)
    /// Report that downloads wait for this site, or fail.
    case report(site: String, HostHealth.Hold, isWaitedFor: Bool)
  }

  struct Waiting {
    let ticket: DownloadTicket
    let element: Element
    /// Whether it waits while its host is held.
    let isPatient: Bool
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
    /// The most concurrent transfers for now. After a hold of a fickle host it begins with one and grows by one with
    /// each response.
    var window = Int.max
    /// The number of responses and ended silences.
    var responses = 0
    /// The slots lent since its last response.
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
    let site: String
    let element: Element
    let beginning: HostHealth.Beginning
    /// Whether its slot is lent.
    var isLent = false
    /// When it fell silent; nil while it is not silent.
    var silentSince: ContinuousClock.Instant?
    /// The site's `responses` at that time.
    var responsesBeforeSilence = 0
    /// Whether it was preempted.
    var isPreempted = false
  }

  private struct Position {
    let site: String
    let queue: Queue
    let ticket: TwoLevelQueue<Waiting>.Ticket
  }

  private struct Candidate {
    let ticket: DownloadTicket
    let site: Dictionary<String, Site>.Index
    let queue: Queue

    private var rank: (Int, UInt64) { (queue == .deferred ? 1 : 0, ticket.number) }

    /// Replaces `other` if that comes after this candidate.
    func replace(_ other: inout Candidate?) {
      if other.map({ rank < $0.rank }) ?? true { other = self }
    }
  }

  /// The most concurrent downloads.
  let maximum: Int
  /// The most concurrent downloads at one site.
  let maximumPerSite: Int
  let silence: SilencePolicy
  let health: HostHealth.Policy
  /// The number of slots in use, lent ones excluded.
  var running = 0
  /// The number of running transfers with a lent slot.
  var lent = 0
  var sites: [String: Site] = [:]
  var runs: [DownloadTicket: Run] = [:]
  /// The silent transfers, longest silence first, with lent slots and with their own.
  var silent: [DownloadTicket] = []
  /// The health of hosts, including hosts without a download.
  var hosts: [String: HostHealth] = [:]
  /// The sites whose host is held.
  var heldSites: Set<String> = []
  /// For each held host, the end of the hold that was last reported.
  var reported: [String: ContinuousClock.Instant] = [:]
  /// The counted failures of each download that has failed, until it ends.
  var failures: [DownloadTicket: Int] = [:]
  /// The running probes.
  var probes: [DownloadTicket: HostHealth.Beginning] = [:]
  /// The steps to carry out before anything starts.
  var steps: Deque<Step> = []
  private var queued: [DownloadTicket: Position] = [:]
  private var lastNumber: UInt64 = 0
  private var aging = PriorityAging()
  private var random: any RandomNumberGenerator & Sendable

  init(
    maximum: Int, maximumPerSite: Int, silence: SilencePolicy = SilencePolicy(),
    health: HostHealth.Policy = HostHealth.Policy(),
    random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) {
    (self.maximum, self.maximumPerSite) = (max(1, maximum), max(1, maximumPerSite))
    (self.silence, self.health, self.random) = (silence, health, random)
  }

  /// The number of waiting downloads.
  var waiting: Int { queued.count }

  /// Whether more than one download runs or waits at a site.
  func isShared(_ name: String) -> Bool {
    guard let site = sites[name] else { return false }
    return site.running + site.lent > 1 || site.hasWaiting
  }

  mutating func nextTicket() -> DownloadTicket {
    lastNumber += 1
    return DownloadTicket(number: lastNumber)
  }

  /// Enqueues a download. One that has waited before (`isReturning`) keeps its age. A `limit` below `maximumPerSite`
  /// applies to the whole site until nothing runs or waits there. A `deferred` download comes after all others. A
  /// download that is not `patient` fails while its host is held.
  mutating func enqueue(
    _ element: Element, _ ticket: DownloadTicket, site name: String, at level: Priority, limit: Int? = nil,
    isReturning: Bool = false, deferred: Bool = false, patient: Bool = true, now: ContinuousClock.Instant
  ) {
    if let hold = refusal(at: name, patient: patient, now: now) {
      steps.append(.fail(element, hold))
      return
    }
    let queue: Queue = deferred ? .deferred : isReturning ? .returning : .fresh
    let position = sites[name, default: Site()][queue].enqueue(
      Waiting(ticket: ticket, element: element, isPatient: patient), at: level)
    queued[ticket] = Position(site: name, queue: queue, ticket: position)
    if let limit { sites[name]?.lower(to: limit) }
    if heldSites.contains(name) { steps.append(.park(element)) }
  }

  /// Moves a waiting download to the end of the other level's queue.
  mutating func move(_ ticket: DownloadTicket, to level: Priority) {
    guard let position = queued[ticket] else { return }
    sites[position.site]?[position.queue].move(position.ticket, to: level)
  }

  /// Removes a waiting download; nil if it does not wait any more.
  mutating func remove(_ ticket: DownloadTicket) -> Element? {
    guard let position = queued.removeValue(forKey: ticket) else { return nil }
    let removed = sites[position.site]?[position.queue].remove(position.ticket)
    removeIfIdle(position.site)
    return removed?.element
  }

  /// The waiting downloads of one site, in the order of their first wait.
  func waiting(at site: String) -> [Waiting] {
    (sites[site]?.queues.flatMap { $0.elements } ?? []).sorted { $0.ticket.number < $1.ticket.number }
  }

  /// Releases the slot of a transfer that ended, and judges its host by the outcome.
  mutating func release(_ ticket: DownloadTicket, _ outcome: TransferOutcome, now: ContinuousClock.Instant) {
    ended(ticket, outcome, now: now)
    guard let run = runs.removeValue(forKey: ticket) else { return }
    silent.removeAll { $0 == ticket }
    count(-1, at: run.site, isLent: run.isLent)
    lendSlots()
    removeIfIdle(run.site)
  }

  /// Adds to the number of transfers with their own slot, or with a lent one.
  mutating func count(_ change: Int, at site: String, isLent: Bool) {
    if isLent {
      lent += change
      sites[site]?.lent += change
    } else {
      running += change
      sites[site]?.running += change
    }
  }

  /// The next step; nil when there is none. Call it until it returns nil.
  mutating func nextStep(at now: ContinuousClock.Instant) -> Step? {
    if steps.isEmpty { giveUpHosts(at: now) }
    if let step = steps.popFirst() { return step }
    if let step = admitNext(at: now) { return step }
    return nextToPreempt(at: now).map { .preempt($0) }
  }

  /// Gives a slot to the next download; nil when none may start.
  private mutating func admitNext(at now: ContinuousClock.Instant) -> Step? {
    guard running < maximum, !queued.isEmpty else { return nil }
    let (visible, prefetch) = oldest(at: now)
    guard let level = aging.next(visibleWaits: visible != nil, prefetchWaits: prefetch != nil),
      let chosen = level == .visible ? visible : prefetch
    else { return nil }
    let name = sites.keys[chosen.site]
    var host = hosts[name] ?? HostHealth(health, now: now)
    if host.isTrialDue(at: now), host.prefersProbe(allHaveFailed: chosen.queue == .deferred, at: now) {
      return .probe(site: name, beginProbe(at: name, now: now))
    }
    aging.take(level, prefetchWaits: prefetch != nil)
    // Drawn at random, because the images at the front may all be broken.
    let isDrawn = host.isDoubtful && chosen.queue != .deferred
    let waiting =
      isDrawn
      ? sites.values[chosen.site][chosen.queue].dequeue(at: level, using: &random)
      : sites.values[chosen.site][chosen.queue].dequeue(at: level)
    guard let waiting else { return nil }
    queued.removeValue(forKey: waiting.ticket)
    sites.values[chosen.site].running += 1
    running += 1
    let beginning = host.begin(waiting.ticket, at: now)
    remember(host, of: name, now: now)
    runs[waiting.ticket] = Run(site: name, element: waiting.element, beginning: beginning)
    return .start(waiting.element)
  }

  /// Whether a site is below its limit.
  func hasFreeSlot(_ site: Site) -> Bool { site.running < min(maximumPerSite, site.maximum, site.window) }

  /// The oldest download of each level that could start now; a deferred one only if there is no other.
  private mutating func oldest(at now: ContinuousClock.Instant) -> (visible: Candidate?, prefetch: Candidate?) {
    var oldest: (visible: Candidate?, prefetch: Candidate?)
    // `for index in sites.indices` would hold a second reference, and every mutation would copy the dictionary.
    var next = sites.startIndex
    while next != sites.endIndex {
      let index = next
      sites.formIndex(after: &next)
      guard hasFreeSlot(sites.values[index]), mayStart(at: sites.keys[index], now: now) else { continue }
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

extension DownloadAdmission.Step: Sendable where Element: Sendable {}
