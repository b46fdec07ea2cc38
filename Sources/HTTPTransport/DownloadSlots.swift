import ThumbnailCore

/// Grants slots to downloads, combining admission and host states: at a host that is held, or being tried by one
/// transfer, nothing starts, and its waiters hold no slot. A pure value: its owner synchronises it and carries out what
/// it returns.
struct DownloadSlots {
  typealias Admission = DownloadAdmission<Waiter>

  /// A download that waits for a slot.
  struct Waiter: Sendable {
    let site: String
    /// Whether it waits while its host is held; otherwise it fails.
    let mayWait: Bool
    let slot: TransferSlot
  }

  /// What the owner must do next.
  enum Step {
    /// The slot is granted, with its pass.
    case start(TransferSlot, CircuitBreaker.Pass)
    /// Stop the transfer, release its slot, and enqueue it again as deferred.
    case putOff(TransferSlot)
  }

  /// What the owner must do after releasing the lock.
  struct Effects {
    /// Waiters that fail, and their errors.
    var failed: [(TransferSlot, DownloadError)] = []
    var news: [HostPause] = []
    /// A hold to share with other processes.
    var hold: (site: String, hold: CircuitBreaker.Hold)?
  }

  var admission: Admission
  private var hosts: CircuitBreaker
  private var allowance: WaitAllowance
  /// For each host with waiters, when its hold ends.
  private var waited: [String: ContinuousClock.Instant] = [:]
  /// For each held host, the end of the hold that was last reported.
  private var told: [String: ContinuousClock.Instant] = [:]

  init(_ admission: Admission, policy: CircuitBreaker.Policy, maximumWait: Duration) {
    self.admission = admission
    hosts = CircuitBreaker(policy)
    allowance = WaitAllowance(maximumWait)
  }

  /// When to try the first host that has waiters; nil without any.
  var nextTrial: ContinuousClock.Instant? { waited.values.min() }

  /// Enqueues a download, or throws if its host is held for too long.
  mutating func enqueue(
    _ waiter: Waiter, at level: Priority, limit: Int?, returning: Admission.Ticket?, deferred: Bool = false,
    now: ContinuousClock.Instant, _ effects: inout Effects
  ) throws(DownloadError) -> Admission.Ticket {
    switch hosts.gate(of: waiter.site, at: now) {
    case .held(let hold):
      let waits = waiter.mayWait && waits(for: hold, of: waiter.site, now)
      tell(of: hold, at: waiter.site, isWaitedFor: waits, now, &effects)
      if !waits { throw hold.error(of: waiter.site, now: now) }
    case .halfOpen: open(waiter.site)
    case .open, .trying: break
    }
    return admission.enqueue(
      waiter, site: waiter.site, at: level, limit: limit, returning: returning, deferred: deferred)
  }

  /// The next step; nil when there is none. Call it until it returns nil.
  mutating func nextStep(at now: ContinuousClock.Instant) -> Step? {
    switch admission.nextStep(at: now) {
    case nil: return nil
    case .putOff(let waiter): return .putOff(waiter.slot)
    case .start(let waiter):
      let pass = hosts.begin(at: waiter.site)
      if hosts.isTrying(waiter.site) { admission.closedSites.insert(waiter.site) }
      return .start(waiter.slot, pass)
    }
  }

  /// Updates the host's state with the outcome of a transfer.
  mutating func ended(
    _ pass: CircuitBreaker.Pass, _ verdict: CircuitBreaker.Verdict, now: ContinuousClock.Instant,
    _ effects: inout Effects
  ) {
    if let hold = hosts.ended(pass, verdict, at: now) {
      effects.hold = (pass.site, hold)
      holds(pass.site, hold, now, &effects)
    } else {
      refresh(pass.site, now)
    }
  }

  /// Adopts a hold that another process has shared.
  mutating func adopt(
    _ hold: CircuitBreaker.Hold, of site: String, now: ContinuousClock.Instant, _ effects: inout Effects
  ) {
    if let hold = hosts.adopt(hold, of: site, at: now) { holds(site, hold, now, &effects) }
  }

  /// Allows a trial at each host whose hold has ended.
  mutating func wake(now: ContinuousClock.Instant) {
    for (site, end) in waited where end <= now {
      // If the hold was extended meanwhile there are no waiters left: they have failed or were cancelled.
      waited.removeValue(forKey: site)
      refresh(site, now)
    }
  }

  /// Whether something other than a download, such as a request for a search page, may wait until then.
  mutating func mayWait(until end: ContinuousClock.Instant, now: ContinuousClock.Instant) -> Bool {
    allowance.take(until: end, from: now)
  }

  // MARK: Holds

  /// A hold begins or is extended: each waiter of the site keeps waiting, or fails.
  private mutating func holds(
    _ site: String, _ hold: CircuitBreaker.Hold, _ now: ContinuousClock.Instant, _ effects: inout Effects
  ) {
    admission.closedSites.insert(site)
    let impatient = admission.removeAll(at: site) { !$0.mayWait }
    var failed = impatient
    let waiting = admission.waits(at: site)
    let waits = waiting && waits(for: hold, of: site, now)
    if waiting, !waits { failed += admission.removeAll(at: site) { _ in true } }
    if waiting || !impatient.isEmpty { tell(of: hold, at: site, isWaitedFor: waits, now, &effects) }
    effects.failed += failed.map { ($0.slot, hold.error(of: site, now: now)) }
  }

  private mutating func waits(for hold: CircuitBreaker.Hold, of site: String, _ now: ContinuousClock.Instant) -> Bool {
    if let end = waited[site], end >= hold.until { return true }
    if hold.cause != .asked, hold.strikes >= hosts.policy.closingsUntilDown { return false }
    guard allowance.take(until: hold.until, from: now) else { return false }
    waited[site] = hold.until
    return true
  }

  /// Opens or closes a site's queue according to its host's state.
  private mutating func refresh(_ site: String, _ now: ContinuousClock.Instant) {
    switch hosts.gate(of: site, at: now) {
    case .open, .halfOpen: open(site)
    case .trying: waited.removeValue(forKey: site)
    case .held: break
    }
  }

  private mutating func open(_ site: String) {
    admission.closedSites.remove(site)
    waited.removeValue(forKey: site)
    told.removeValue(forKey: site)
  }

  private mutating func tell(
    of hold: CircuitBreaker.Hold, at site: String, isWaitedFor: Bool, _ now: ContinuousClock.Instant,
    _ effects: inout Effects
  ) {
    if told[site] == hold.until { return }
    told[site] = hold.until
    effects.news.append(hold.pause(of: site, isWaitedFor: isWaitedFor, now: now))
  }
}
