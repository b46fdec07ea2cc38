/// What becomes of the slots of silent transfers.
///
/// A transfer that brings nothing lends its slot to the next, and just goes on when its server does: then it counts
/// again, and nobody new starts before those that have a slot are few enough. So there are never more than the limit of
/// a site and `mostLent` transfers there. When all are lent, the oldest silent one makes room, if its site has answered
/// others meanwhile and it is late even for that site. A site that answers nobody gives up few slots: then it is the
/// site that is waited for.
extension DownloadAdmission {
  /// How long a running transfer may bring nothing before it is silent.
  ///
  /// Where stragglers are known, the others are measured by what the site's answers take: each silent picture would
  /// cost its slot a second otherwise.
  func patience(for ticket: Ticket) -> Duration {
    guard let run = runs[ticket], let site = sites[run.site] else { return rules.patience }
    if !mayLend(at: site) { return rules.strictPatience }
    guard site.hasStragglers else { return rules.patience }
    return min(rules.patience, max(rules.shortestPatience, site.times.bound ?? .zero))
  }

  /// An answer has begun, so long after its transfer.
  mutating func answered(_ ticket: Ticket, after time: Duration) {
    guard let run = runs[ticket] else { return }
    sites[run.site]?.times.add(time)
    heard(from: run.site)
  }

  /// A running transfer has brought nothing for its patience.
  mutating func fellSilent(_ ticket: Ticket, since: ContinuousClock.Instant) {
    guard let run = runs[ticket], run.silentSince == nil else { return }
    runs[ticket]?.silentSince = since
    runs[ticket]?.answersBefore = sites[run.site]?.answers ?? 0
    silent.append(ticket)
    lendWhatCanBe()
  }

  /// A silent transfer brings something again.
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

  /// Whether the site of a silent transfer has answered others meanwhile: it is the picture that is silent.
  func hasAnsweredOthers(since ticket: Ticket) -> Bool {
    guard let run = runs[ticket], run.silentSince != nil, let site = sites[run.site] else { return false }
    return site.answers > run.answersBefore
  }

  private mutating func heard(from site: String) {
    sites[site]?.answers += 1
    sites[site]?.unanswered = 0
    lendWhatCanBe()
  }

  /// Below our own limit, somebody has asked for the lower one: a service, which means it as it says, or the user.
  private func mayLend(at site: Site) -> Bool {
    min(maximum, maximumPerSite, site.maximum) >= rules.leastLimitToLendAt
  }

  /// Lends the slots of silent transfers, as far as that goes.
  mutating func lendWhatCanBe() {
    guard lent < rules.mostLent, lent < silent.count else { return }
    for ticket in silent where lent < rules.mostLent {
      guard let run = runs[ticket], run.slot == .own, !run.isPutOff, let site = sites[run.site], mayLend(at: site),
        site.unanswered < rules.mostUnanswered
      else { continue }
      runs[ticket]?.slot = .lent
      lent += 1
      running -= 1
      sites[run.site]?.lent += 1
      sites[run.site]?.running -= 1
      sites[run.site]?.unanswered += 1
    }
  }

  /// The silent transfer that has to make room; nil when none has to. Those that were put off before need no room.
  mutating func nextToPutOff(at now: ContinuousClock.Instant) -> Element? {
    // One at a time for each that waits to lend its slot: the room is there when it is gone.
    var leaving = silent.count { runs[$0]?.isPutOff == true }
    for ticket in silent {
      guard let run = runs[ticket], run.slot == .own, !run.isPutOff, let site = sites[run.site],
        site.unanswered < rules.mostUnanswered, isWanted(slotAt: run.site, site)
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

  /// Whether somebody could start with the slot of a transfer at this site who cannot without.
  private func isWanted(slotAt name: String, _ site: Site) -> Bool {
    if site.hasOthersWaiting, !closedSites.contains(name), !hasFreeSlot(site) || running >= maximum { return true }
    return running >= maximum
      && sites.contains { !closedSites.contains($0) && $1.hasOthersWaiting && hasFreeSlot($1) }
  }

  /// Whether a transfer without a slot is late by what its site's answers take, while the site answers others.
  private func isOverdue(_ ticket: Ticket, at now: ContinuousClock.Instant) -> Bool {
    guard let run = runs[ticket], run.slot == .lent, !run.isPutOff, let since = run.silentSince,
      let site = sites[run.site], site.answers > run.answersBefore
    else { return false }
    return now - since >= max(rules.patience, site.times.bound ?? .zero)
  }
}
