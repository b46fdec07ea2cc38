/// Lending the slots of silent transfers.
///
/// A transfer that receives nothing lends its slot: it keeps running but no longer counts, so that another can start.
/// Once it receives something it counts again, and no new one starts until the number is below the limit. So a site
/// never has more than its limit plus `maximumLent` transfers. When all are lent, the oldest silent transfer is deferred,
/// if its site has responded to others meanwhile and it is late even for that site. A site that responds to nothing
/// gives up few slots, since then the site itself is slow.
extension DownloadAdmission {
  /// How long a running transfer may receive nothing before it counts as silent.
  ///
  /// At a site with known stragglers the limit follows its response times: each silent image would hold its slot for a
  /// second otherwise.
  func silenceTimeout(for ticket: Ticket) -> Duration {
    guard let run = runs[ticket], let site = sites[run.site] else { return rules.timeout }
    if !mayLend(at: site) { return rules.strictTimeout }
    guard site.hasStragglers else { return rules.timeout }
    return min(rules.timeout, max(rules.shortestTimeout, site.times.bound ?? .zero))
  }

  /// A response has begun, `time` after its transfer.
  mutating func answered(_ ticket: Ticket, after time: Duration) {
    guard let run = runs[ticket] else { return }
    sites[run.site]?.times.add(time)
    heard(from: run.site)
  }

  /// A running transfer has received nothing for longer than its silence timeout.
  mutating func fellSilent(_ ticket: Ticket, since: ContinuousClock.Instant) {
    guard let run = runs[ticket], run.silentSince == nil else { return }
    runs[ticket]?.silentSince = since
    runs[ticket]?.responsesBefore = sites[run.site]?.responses ?? 0
    silent.append(ticket)
    lendWhatCanBe()
  }

  /// A silent transfer receives something again.
  mutating func resumed(_ ticket: Ticket) {
    guard let run = runs[ticket], run.silentSince != nil else { return }
    silent.removeAll { $0 == ticket }
    runs[ticket]?.silentSince = nil
    if run.slot == .lent {
      runs[ticket]?.slot = .own
      lent -= 1
      running += 1
      sites[run.site]?.lent -= 1
      sites[run.site]?.running += 1
    }
    heard(from: run.site)
  }

  /// Whether a silent transfer's site has responded to others meanwhile, so that only this image is silent.
  func hasAnsweredOthers(since ticket: Ticket) -> Bool {
    guard let run = runs[ticket], run.silentSince != nil, let site = sites[run.site] else { return false }
    return site.responses > run.responsesBefore
  }

  private mutating func heard(from site: String) {
    sites[site]?.responses += 1
    sites[site]?.unanswered = 0
    lendWhatCanBe()
  }

  /// A site limit below our own was set by a service or the user, and is kept strictly: nothing is lent.
  private func mayLend(at site: Site) -> Bool {
    min(maximum, maximumPerSite, site.maximum) >= rules.minimumLimitForLending
  }

  /// Lends the slots of silent transfers, within the limits.
  mutating func lendWhatCanBe() {
    guard lent < rules.maximumLent, lent < silent.count else { return }
    for ticket in silent where lent < rules.maximumLent {
      guard let run = runs[ticket], run.slot == .own, !run.isPutOff, let site = sites[run.site], mayLend(at: site),
        site.unanswered < rules.maximumLentPerSilentSite
      else { continue }
      runs[ticket]?.slot = .lent
      lent += 1
      running -= 1
      sites[run.site]?.lent += 1
      sites[run.site]?.running -= 1
      sites[run.site]?.unanswered += 1
    }
  }

  /// The silent transfer to defer in order to free its slot; nil if there is none. Those already deferred are skipped.
  mutating func nextToPutOff(at now: ContinuousClock.Instant) -> Element? {
    // At most one per transfer that could lend its slot; those already being stopped count.
    var leaving = silent.count { runs[$0]?.isPutOff == true }
    for ticket in silent {
      guard let run = runs[ticket], run.slot == .own, !run.isPutOff, let site = sites[run.site],
        site.unanswered < rules.maximumLentPerSilentSite, isWanted(slotAt: run.site, site)
      else { continue }
      if !mayLend(at: site) { return putOff(ticket) }
      guard leaving == 0 else {
        leaving -= 1
        continue
      }
      if let oldest = silent.first(where: { isOverdue($0, at: now) }) { return putOff(oldest) }
    }
    return nil
  }

  private mutating func putOff(_ ticket: Ticket) -> Element? {
    guard let run = runs[ticket] else { return nil }
    runs[ticket]?.isPutOff = true
    if run.slot == .own { sites[run.site]?.unanswered += 1 }
    return run.element
  }

  /// Whether a waiting download could start only with the slot of a transfer at this site.
  private func isWanted(slotAt name: String, _ site: Site) -> Bool {
    if site.hasOthersWaiting, !closedSites.contains(name), !hasFreeSlot(site) || running >= maximum { return true }
    return running >= maximum
      && sites.contains { !closedSites.contains($0) && $1.hasOthersWaiting && hasFreeSlot($1) }
  }

  /// Whether a transfer with a lent slot is late by its site's response times, while the site responds to others.
  private func isOverdue(_ ticket: Ticket, at now: ContinuousClock.Instant) -> Bool {
    guard let run = runs[ticket], run.slot == .lent, !run.isPutOff, let since = run.silentSince,
      let site = sites[run.site], site.responses > run.responsesBefore
    else { return false }
    return now - since >= max(rules.timeout, site.times.bound ?? .zero)
  }
}
