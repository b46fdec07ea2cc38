import ThumbnailCore

/// Gives out slots for downloads, as the admission and the hosts' states allow: at a host that is held, or that one
/// transfer is just trying, nothing starts, and what waits there holds no slot. A pure value: its owner guards it and
/// carries out what it returns.
struct DownloadSlots {
  typealias Admission = DownloadAdmission<Waiter>

  /// A download that waits for its slot.
  struct Waiter: Sendable {
    let site: String
    /// Whether it waits while its host is held. Else it fails then.
    let mayWait: Bool
    let slot: TransferSlot
  }

  /// What the owner has to do next.
  enum Step {
    /// The slot is there, with its pass.
    case start(TransferSlot, HostStates.Pass)
    /// The transfer makes room: stop it, release its slot, and put it in line again as deferred.
    case putOff(TransferSlot)
  }

  /// What the owner has to do once it has let go of the guard.
  struct Effects {
    /// Those who wait in vain, and why.
    var failed: [(TransferSlot, DownloadError)] = []
    var news: [HostNews] = []
    /// What other processes should know.
    var hold: (site: String, hold: HostStates.Hold)?
  }

  var admission: Admission
  private var hosts: HostStates
  private var allowance: WaitAllowance
  /// Until when somebody waits for a host.
  private var waited: [String: ContinuousClock.Instant] = [:]
  /// The hold that was last told of each host that is held.
  private var told: [String: ContinuousClock.Instant] = [:]

  init(_ admission: Admission, policy: HostStates.Policy, maximumWait: Duration) {
    self.admission = admission
    hosts = HostStates(policy)
    allowance = WaitAllowance(maximumWait)
  }

  /// When the first host that somebody waits for is to be tried; nil when nobody waits for one.
  var nextTrial: ContinuousClock.Instant? { waited.values.min() }

  /// Puts a download in line, or says why it need not wait: its host is held for too long.
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

  /// What to do next; nil when there is nothing. To be called until it says nil.
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

  /// Takes note of what a transfer's end says of its host.
  mutating func ended(
    _ pass: HostStates.Pass, _ verdict: HostStates.Verdict, now: ContinuousClock.Instant, _ effects: inout Effects
  ) {
    if let hold = hosts.ended(pass, verdict, at: now) {
      effects.hold = (pass.site, hold)
      holds(pass.site, hold, now, &effects)
    } else {
      refresh(pass.site, now)
    }
  }

  /// Takes over what another process knows of a host.
  mutating func adopt(
    _ hold: HostStates.Hold, of site: String, now: ContinuousClock.Instant, _ effects: inout Effects
  ) {
    if let hold = hosts.adopt(hold, of: site, at: now) { holds(site, hold, now, &effects) }
  }

  /// Lets a trial go to each host whose pause is over by now.
  mutating func wake(now: ContinuousClock.Instant) {
    for (site, end) in waited where end <= now {
      // Where the pause has become longer since, nobody waits for it any more: those who did have failed or gone.
      waited.removeValue(forKey: site)
      refresh(site, now)
    }
  }

  /// Whether somebody who waits beside the downloads, as for a page of a search, may wait until then.
  mutating func mayWait(until end: ContinuousClock.Instant, now: ContinuousClock.Instant) -> Bool {
    allowance.take(until: end, from: now)
  }

  // MARK: Holds

  /// A hold begins or has become longer: who waits there goes on waiting, or fails.
  private mutating func holds(
    _ site: String, _ hold: HostStates.Hold, _ now: ContinuousClock.Instant, _ effects: inout Effects
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

  private mutating func waits(for hold: HostStates.Hold, of site: String, _ now: ContinuousClock.Instant) -> Bool {
    if let end = waited[site], end >= hold.until { return true }
    if hold.cause != .asked, hold.strikes >= hosts.policy.closingsUntilDown { return false }
    guard allowance.take(until: hold.until, from: now) else { return false }
    waited[site] = hold.until
    return true
  }

  /// Opens or closes the line of a site as its host stands.
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
    of hold: HostStates.Hold, at site: String, isWaitedFor: Bool, _ now: ContinuousClock.Instant,
    _ effects: inout Effects
  ) {
    if told[site] == hold.until { return }
    told[site] = hold.until
    effects.news.append(hold.news(of: site, isWaitedFor: isWaitedFor, now: now))
  }
}
