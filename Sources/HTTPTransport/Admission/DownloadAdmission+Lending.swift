/// Lending the slots of silent transfers.
///
/// A transfer that receives nothing lends its slot: it keeps running but no longer counts, so that another can start.
/// Once it receives something it counts again, and no new one starts until the number is below the limit. So a site
/// never has more than its limit plus `maximumLent` transfers. When all slots are lent, the oldest silent transfer is
/// deferred, if its site has responded to others meanwhile and it is late even for that site. A site that responds to
/// no request lends few slots, because the site itself is slow.
extension DownloadAdmission {
  /// How long a running transfer may receive nothing before it counts as silent.
  ///
  /// The timeout follows the site's response times, closely if the site has stragglers: otherwise each silent image
  /// would hold its slot for a second.
  func silenceTimeout(for ticket: DownloadTicket) -> Duration {
    guard let run = runs[ticket], let site = sites[run.site] else { return silence.timeout }
    if !mayLend(at: site) { return silence.strictTimeout }
    guard let bound = site.times.bound else { return site.hasStragglers ? silence.shortestTimeout : silence.timeout }
    return min(silence.timeout, max(silence.shortestTimeout, site.hasStragglers ? bound : bound * 4))
  }

  /// A response has begun, `time` after its transfer.
  mutating func responseBegan(_ ticket: DownloadTicket, after time: Duration) {
    guard let run = runs[ticket] else { return }
    sites[run.site]?.times.add(time)
    siteResponded(run.site)
  }

  /// A running transfer has received nothing for longer than its silence timeout. If that is longer than the site
  /// usually takes, the transfer counts as failed for now.
  mutating func fellSilent(_ ticket: DownloadTicket, since: ContinuousClock.Instant, now: ContinuousClock.Instant) {
    guard let run = runs[ticket], run.silentSince == nil else { return }
    runs[ticket]?.silentSince = since
    runs[ticket]?.responsesBeforeSilence = sites[run.site]?.responses ?? 0
    silent.append(ticket)
    lendSlots()
    if now - since >= sites[run.site]?.times.bound ?? .zero {
      ended(ticket, .unreachable(reason: "it fell silent"), now: now)
    }
  }

  /// A silent transfer receives something again.
  mutating func resumed(_ ticket: DownloadTicket) {
    guard let run = runs[ticket], run.silentSince != nil else { return }
    silent.removeAll { $0 == ticket }
    runs[ticket]?.silentSince = nil
    if run.isLent { setLent(ticket, at: run.site, false) }
    siteResponded(run.site)
  }

  private mutating func siteResponded(_ site: String) {
    sites[site]?.responses += 1
    sites[site]?.lentSinceResponse = 0
    lendSlots()
  }

  /// Whether a site's slots may be lent. A limit below our own was set by a service or the user, and is kept strictly.
  private func mayLend(at site: Site) -> Bool {
    min(maximum, maximumPerSite, site.maximum) >= silence.minimumLimitForLending
  }

  /// Lends the slots of silent transfers, within the limits.
  mutating func lendSlots() {
    guard lent < silence.maximumLent, lent < silent.count else { return }
    for ticket in silent where lent < silence.maximumLent {
      guard let run = runs[ticket], !run.isLent, !run.isPreempted, let site = sites[run.site], mayLend(at: site),
        site.lentSinceResponse < silence.maximumLentPerSilentSite
      else { continue }
      setLent(ticket, at: run.site, true)
      sites[run.site]?.lentSinceResponse += 1
    }
  }

  private mutating func setLent(_ ticket: DownloadTicket, at site: String, _ isLent: Bool) {
    runs[ticket]?.isLent = isLent
    count(-1, at: site, isLent: !isLent)
    count(1, at: site, isLent: isLent)
  }

  /// The silent transfer to stop and defer in order to free its slot; nil if there is none.
  mutating func nextToPreempt(at now: ContinuousClock.Instant) -> Element? {
    // At most one for each transfer that could lend its slot. Transfers that are being stopped count.
    var leaving = silent.count { runs[$0]?.isPreempted == true }
    for ticket in silent {
      guard let run = runs[ticket], !run.isLent, !run.isPreempted, let site = sites[run.site] else { continue }
      // A held host gets its trial even if its silent transfers hold all slots.
      let isTried = site.hasWaiting && heldSites.contains(run.site) && mayStart(at: run.site, now: now)
      if isTried, leaving == 0, running >= maximum || !hasFreeSlot(site) { return preempt(ticket) }
      guard site.lentSinceResponse < silence.maximumLentPerSilentSite, isWanted(slotAt: run.site, site, now: now)
      else { continue }
      if !mayLend(at: site) { return preempt(ticket) }
      guard leaving == 0 else {
        leaving -= 1
        continue
      }
      if let oldest = silent.first(where: { isOverdue($0, at: now) }) { return preempt(oldest) }
    }
    return nil
  }

  private mutating func preempt(_ ticket: DownloadTicket) -> Element? {
    guard let run = runs[ticket] else { return nil }
    runs[ticket]?.isPreempted = true
    if !run.isLent { sites[run.site]?.lentSinceResponse += 1 }
    return run.element
  }

  /// Whether a waiting download could start only with the slot of a transfer at this site.
  private func isWanted(slotAt name: String, _ site: Site, now: ContinuousClock.Instant) -> Bool {
    if site.hasOthersWaiting, !hasFreeSlot(site) || running >= maximum, mayStart(at: name, now: now) { return true }
    return running >= maximum
      && sites.contains { $1.hasOthersWaiting && hasFreeSlot($1) && mayStart(at: $0, now: now) }
  }

  /// When the next silent transfer becomes overdue and may be deferred for others; nil if none does.
  func nextOverdue(after now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
    guard waiting > 0, silent.count > lent else { return nil }
    return silent.compactMap(overdue).filter { $0 > now }.min()
  }

  private func isOverdue(_ ticket: DownloadTicket, at now: ContinuousClock.Instant) -> Bool {
    overdue(ticket).map { $0 <= now } ?? false
  }

  /// When a transfer with a lent slot becomes overdue by its site's response times; nil unless the site has responded
  /// to others.
  private func overdue(_ ticket: DownloadTicket) -> ContinuousClock.Instant? {
    guard let run = runs[ticket], run.isLent, !run.isPreempted, let since = run.silentSince,
      let site = sites[run.site], site.responses > run.responsesBeforeSilence
    else { return nil }
    return since + max(silence.timeout, site.times.bound ?? .zero)
  }
}

/// When a transfer counts as silent, and when it lends its slot to another.
package struct SilencePolicy: Sendable {
  /// A transfer counts as silent after this long without a byte.
  var timeout: Duration = .seconds(1)
  /// The shortest timeout, however fast its site responds otherwise.
  var shortestTimeout: Duration = .milliseconds(100)
  /// The timeout at a site that lends no slots. There the silent transfer is stopped.
  var strictTimeout: Duration = .seconds(5)
  /// The most slots lent at once, over all sites.
  var maximumLent = 32
  /// The most slots that one site lends without any response. Beyond that the site itself is slow, and more requests
  /// would not help.
  var maximumLentPerSilentSite = 16
  /// A lower limit was set by a service or the user, and includes silent transfers. From this number on, the limit is
  /// our own.
  var minimumLimitForLending = 6

  package init() {}
}

/// The times until a site's responses begin: smoothed mean and deviation, computed like TCP's retransmission timeout
/// (RFC 6298). A pure value.
struct ResponseTimes: Sendable {
  /// In seconds; nil before the first response.
  private var mean: Double?
  private var deviation = 0.0

  /// Adds the time from a request to the beginning of its response.
  mutating func add(_ time: Duration) {
    let seconds = time / .seconds(1)
    guard let mean else {
      (mean, deviation) = (seconds, seconds / 2)
      return
    }
    deviation += (abs(seconds - mean) - deviation) / 4
    self.mean = mean + (seconds - mean) / 8
  }

  /// The time after which a response is overdue; nil before the first response.
  var bound: Duration? { mean.map { .seconds($0 + 4 * deviation) } }
}
