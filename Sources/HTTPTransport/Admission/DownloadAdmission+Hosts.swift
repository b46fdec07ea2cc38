/// Downloads whose host is held, and the health of hosts.
extension DownloadAdmission {
  /// The most hosts whose health is kept. Beyond that, hosts without a download or a hold are removed.
  private static var mostHosts: Int { 4096 }

  /// Whether a download may start at a site. At a held host only a trial may start, once it is due.
  func mayStart(at site: String, now: ContinuousClock.Instant) -> Bool {
    guard !heldSites.isEmpty, heldSites.contains(site), let host = hosts[site] else { return true }
    return host.isTrialDue(at: now)
  }

  /// Why a download may not even wait; nil if it may.
  mutating func refusal(at site: String, patient: Bool, now: ContinuousClock.Instant) -> HostHealth.Hold? {
    guard heldSites.contains(site), let host = hosts[site], let hold = host.hold else { return nil }
    let isRefused =
      patient
      ? host.isOverdue(at: now)
      : !host.isTrialClose(at: now)
    report(hold, of: site, isWaitedFor: !isRefused, now)
    return isRefused ? hold : nil
  }

  /// A transfer has ended: judges its host by the outcome.
  mutating func ended(_ ticket: DownloadTicket, _ outcome: TransferOutcome, now: ContinuousClock.Instant) {
    guard let run = runs[ticket] else { return }
    judge(ticket, at: run.site, since: run.beginning, outcome, now: now)
  }

  /// The probe of a site has ended. A nil outcome means that no image is known to probe it with.
  mutating func probed(
    _ ticket: DownloadTicket, at site: String, _ outcome: TransferOutcome?, now: ContinuousClock.Instant
  ) {
    guard let probe = probes.removeValue(forKey: ticket) else { return }
    if outcome == nil { hosts[site]?.hasGoodImage = false }
    judge(ticket, at: site, since: probe, outcome ?? .inconclusive, isProbe: true, now: now)
  }

  mutating func beginProbe(at site: String, now: ContinuousClock.Instant) -> DownloadTicket {
    let ticket = nextTicket()
    probes[ticket] = hosts[site]?.begin(ticket, at: now)
    return ticket
  }

  /// The site has sent an image, with which it can be probed.
  mutating func hasSentImage(_ site: String) { hosts[site]?.hasGoodImage = true }

  /// Counts a failed attempt of a download at a site, unless the host may be to blame. Returns the number of counted
  /// failures, and the number of further attempts that the host allows.
  ///
  /// - Parameters:
  ///   - excuses: Whether it does not count while the host may be to blame.
  ///   - isFirst: Whether it counts as the first failure, because it has received much of the body.
  mutating func charge(
    _ ticket: DownloadTicket, at site: String, excuses: Bool, isFirst: Bool = false, now: ContinuousClock.Instant
  ) -> (failures: Int, more: Int) {
    if isFirst {
      failures[ticket] = 1
    } else if !excuses || hosts[site]?.isSuspected != true {
      failures[ticket, default: 0] += 1
      hosts[site]?.noteCharge(to: ticket)
    }
    return (failures[ticket] ?? 0, hosts[site]?.furtherAttempts(at: now) ?? 0)
  }

  /// A download has ended.
  mutating func forget(_ ticket: DownloadTicket) {
    if !failures.isEmpty { failures.removeValue(forKey: ticket) }
  }

  /// Adopts a hold that another process has shared.
  mutating func adopt(_ hold: HostHealth.Hold, of site: String, now: ContinuousClock.Instant) {
    var host = hosts[site] ?? HostHealth(health, now: now)
    guard host.adopt(hold, at: now) else { return }
    remember(host, of: site, now: now)
    holds(site, hold, isNew: false, now)
  }

  /// When a step becomes due by time alone; nil if none does.
  func nextWake(after now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
    let held = heldSitesWithWaiting
    if held.isEmpty { return nextOverdue(after: now) }
    let ofHosts = held.lazy.compactMap { hosts[$0] }
      .flatMap { [$0.trial == nil ? $0.hold?.until : nil, $0.givesUp] }
      .compactMap { $0 }.filter { $0 > now }.min()
    return [ofHosts, nextOverdue(after: now)].compactMap { $0 }.min()
  }

  /// Gives up the hosts that have not responded within `patience`.
  mutating func giveUpHosts(at now: ContinuousClock.Instant) {
    for site in heldSitesWithWaiting {
      guard hosts[site]?.isOverdue(at: now) == true else { continue }
      hosts[site]?.giveUp(at: now)
      guard let hold = hosts[site]?.hold else { continue }
      report(hold, of: site, isWaitedFor: false, now)
      for waiting in waiting(at: site) { fail(waiting.ticket, hold) }
      for ticket in silent where runs[ticket]?.site == site && runs[ticket]?.isPreempted == false {
        runs[ticket]?.isPreempted = true
        if let run = runs[ticket] { steps.append(.preempt(run.element)) }
      }
    }
  }

  // MARK: Consequences

  /// The held sites with waiting downloads. Thousands of hosts may be held while a few have downloads.
  private var heldSitesWithWaiting: [String] {
    heldSites.isEmpty ? [] : sites.compactMap { heldSites.contains($0.key) && $0.value.hasWaiting ? $0.key : nil }
  }

  private mutating func judge(
    _ ticket: DownloadTicket, at site: String, since beginning: HostHealth.Beginning, _ outcome: TransferOutcome,
    isProbe: Bool = false, now: ContinuousClock.Instant
  ) {
    var host = hosts[site] ?? HostHealth(health, now: now)
    switch outcome {
    case .failed, .unreachable, .pause: if !isProbe { failures[ticket] = failures[ticket] ?? 0 }
    case .responded, .inconclusive: break
    }
    let change = host.ended(
      ticket, since: beginning, outcome, failures: failures[ticket] ?? 0,
      isProbe: isProbe, at: now)
    if case .held = change {
      for (suspect, charges) in host.takeCharges() { failures[suspect]? -= charges }
    }
    remember(host, of: site, now: now)
    if outcome == .responded, let window = sites[site]?.window, window < .max { sites[site]?.window = window + 1 }
    switch change {
    case .none: break
    case .up(let toBlame):
      for failed in toBlame { failures[failed]? += 1 }
      heldSites.remove(site)
      reported.removeValue(forKey: site)
      if host.isFickle(at: now) { sites[site]?.window = 1 }
    case .held(let hold): holds(site, hold, isNew: true, now)
    }
  }

  /// A hold begins or is extended: waiting downloads fail or are parked.
  private mutating func holds(
    _ site: String, _ hold: HostHealth.Hold, isNew: Bool, _ now: ContinuousClock.Instant
  ) {
    let parks = heldSites.insert(site).inserted
    let isClose = hosts[site]?.isTrialClose(at: now) ?? true
    if !isClose || parks {
      for waiting in waiting(at: site) {
        if waiting.isPatient {
          if parks { steps.append(.park(waiting.element)) }
        } else if !isClose {
          fail(waiting.ticket, hold)
        }
      }
    }
    guard hold.until - now >= health.notableHold else { return }
    if isNew { steps.append(.share(site: site, hold)) }
    if sites[site]?.hasWaiting == true { report(hold, of: site, isWaitedFor: true, now) }
  }

  private mutating func fail(_ ticket: DownloadTicket, _ hold: HostHealth.Hold) {
    if let element = remove(ticket) { steps.append(.fail(element, hold)) }
  }

  private mutating func report(
    _ hold: HostHealth.Hold, of site: String, isWaitedFor: Bool, _ now: ContinuousClock.Instant
  ) {
    if hold.until - now < health.notableHold || reported[site] == hold.until { return }
    reported[site] = hold.until
    steps.append(.report(site: site, hold, isWaitedFor: isWaitedFor))
  }

  mutating func remember(_ host: HostHealth, of site: String, now: ContinuousClock.Instant) {
    hosts[site] = host
    guard hosts.count > Self.mostHosts else { return }
    hosts = hosts.filter { name, host in sites[name] != nil || host.hold.map { $0.until > now } ?? false }
    if hosts.count > Self.mostHosts { hosts = hosts.filter { sites[$0.key] != nil } }
    heldSites = heldSites.filter { hosts[$0] != nil }
    reported = reported.filter { hosts[$0.key] != nil }
  }
}
