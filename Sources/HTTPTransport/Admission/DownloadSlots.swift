import ThumbnailCore

/// Grants slots to downloads, combining admission and circuit breaker: at a host that is held, or being tried by one
/// transfer, nothing starts, and its waiters hold no slot. A pure value: its owner synchronises it and carries out what
/// it returns.
struct DownloadSlots {
  typealias Admission = DownloadAdmission<TransferSlot>

  /// What the owner must do next.
  enum Step {
    /// The slot is granted, with its permit.
    case start(TransferSlot, CircuitBreaker.Permit)
    /// Stop the transfer, release its slot, and enqueue it again as deferred.
    case preempt(TransferSlot)
  }

  /// What the owner must do after releasing the lock.
  struct Effects {
    /// Waiters that fail, and their errors.
    var failed: [(TransferSlot, DownloadError)] = []
    /// Slots to grant, and transfers to stop.
    var steps: [Step] = []
    /// Pauses to report.
    var pauses: [HostPause] = []
    /// A hold to share with other processes.
    var hold: (site: String, hold: CircuitBreaker.Hold)?
  }

  var admission: Admission
  private var hosts: CircuitBreaker
  private var waitBudget: WaitBudget
  /// For each host with waiters, when its hold ends.
  private var awaitedTrials: [String: ContinuousClock.Instant] = [:]
  /// For each held host, the end of the hold that was last reported.
  private var reported: [String: ContinuousClock.Instant] = [:]

  init(_ admission: Admission, policy: CircuitBreaker.Policy, maximumWait: Duration) {
    self.admission = admission
    hosts = CircuitBreaker(policy)
    waitBudget = WaitBudget(maximumWait)
  }

  /// When to try the first host that has waiters; nil without any.
  var nextTrial: ContinuousClock.Instant? { awaitedTrials.values.min() }

  /// Enqueues a download, or throws if its host is held for too long.
  mutating func enqueue(
    _ slot: TransferSlot, at level: Priority, limit: Int?, returning: Admission.Ticket?, deferred: Bool = false,
    now: ContinuousClock.Instant, _ effects: inout Effects
  ) throws(DownloadError) -> Admission.Ticket {
    switch hosts.state(of: slot.site, at: now) {
    case .open(let hold):
      let waits = slot.mayWait && waits(for: hold, of: slot.site, now)
      report(hold, of: slot.site, isWaitedFor: waits, now, &effects)
      if !waits { throw hold.error(of: slot.site, now: now) }
    case .halfOpen: admit(slot.site)
    case .closed, .trial: break
    }
    return admission.enqueue(slot, site: slot.site, at: level, limit: limit, returning: returning, deferred: deferred)
  }

  /// The next step; nil when there is none. Call it until it returns nil.
  mutating func nextStep(at now: ContinuousClock.Instant) -> Step? {
    switch admission.nextStep(at: now) {
    case nil: return nil
    case .preempt(let slot): return .preempt(slot)
    case .start(let slot):
      let permit = hosts.begin(at: slot.site)
      if hosts.isTrying(slot.site) { admission.heldSites.insert(slot.site) }
      return .start(slot, permit)
    }
  }

  /// Updates the host's state with the outcome of a transfer.
  mutating func ended(
    _ permit: CircuitBreaker.Permit, _ verdict: CircuitBreaker.Verdict, now: ContinuousClock.Instant,
    _ effects: inout Effects
  ) {
    if let hold = hosts.ended(permit, verdict, at: now) {
      effects.hold = (permit.site, hold)
      holds(permit.site, hold, now, &effects)
    } else {
      refresh(permit.site, now)
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
    for (site, end) in awaitedTrials where end <= now {
      // If the hold was extended meanwhile there are no waiters left: they have failed or were cancelled.
      awaitedTrials.removeValue(forKey: site)
      refresh(site, now)
    }
  }

  /// Whether something other than a download, such as a request for a search page, may wait until then.
  mutating func mayWait(until end: ContinuousClock.Instant, now: ContinuousClock.Instant) -> Bool {
    waitBudget.take(until: end, from: now)
  }

  // MARK: Holds

  /// A hold begins or is extended: each waiter of the site keeps waiting, or fails.
  private mutating func holds(
    _ site: String, _ hold: CircuitBreaker.Hold, _ now: ContinuousClock.Instant, _ effects: inout Effects
  ) {
    admission.heldSites.insert(site)
    let impatient = admission.removeAll(at: site) { !$0.mayWait }
    var failed = impatient
    let waiting = admission.waits(at: site)
    let waits = waiting && waits(for: hold, of: site, now)
    if waiting, !waits { failed += admission.removeAll(at: site) { _ in true } }
    if waiting || !impatient.isEmpty { report(hold, of: site, isWaitedFor: waits, now, &effects) }
    effects.failed += failed.map { ($0, hold.error(of: site, now: now)) }
  }

  private mutating func waits(for hold: CircuitBreaker.Hold, of site: String, _ now: ContinuousClock.Instant) -> Bool {
    if let end = awaitedTrials[site], end >= hold.until { return true }
    if hold.cause != .requested, hold.strikes >= hosts.policy.holdsUntilDown { return false }
    guard waitBudget.take(until: hold.until, from: now) else { return false }
    awaitedTrials[site] = hold.until
    return true
  }

  /// Lets a site's queue continue, if its host's state allows.
  private mutating func refresh(_ site: String, _ now: ContinuousClock.Instant) {
    switch hosts.state(of: site, at: now) {
    case .closed, .halfOpen: admit(site)
    case .trial: awaitedTrials.removeValue(forKey: site)
    case .open: break
    }
  }

  private mutating func admit(_ site: String) {
    admission.heldSites.remove(site)
    awaitedTrials.removeValue(forKey: site)
    reported.removeValue(forKey: site)
  }

  private mutating func report(
    _ hold: CircuitBreaker.Hold, of site: String, isWaitedFor: Bool, _ now: ContinuousClock.Instant,
    _ effects: inout Effects
  ) {
    if reported[site] == hold.until { return }
    reported[site] = hold.until
    effects.pauses.append(hold.pause(of: site, isWaitedFor: isWaitedFor, now: now))
  }
}
