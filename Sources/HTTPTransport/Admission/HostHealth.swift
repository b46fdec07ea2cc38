/// Whether a host is up, judged by the transfers of its images, and when a host that is down is tried again. A pure
/// value: the caller passes the time and carries out the returned change.
///
/// **A failure belongs to its image until other images disagree.** It is a suspicion as long as no other image has had
/// a response since its transfer began. Once one has, the failed image is to blame. After three suspects without a
/// response between them the host is held: only single trials start there, with pauses that begin at 25 ms and double,
/// until any transfer has a response. A failed trial only leads to the next pause.
///
/// **A request for a pause (429 or 503) concerns its image alone** in the same way. If three trials in a row receive
/// one, it concerns the host, which is then held for as long as it asks.
///
/// **A host that sends images which have failed before is fickle**: it may limit the rate of requests. Its failures are
/// not charged to the images, and images have more attempts.
///
/// If all waiting images have failed already, and every other time after two trials, the trial is a `probe`: an image
/// that the host has sent before. If the host sends it again, the other images are to blame.
package struct HostHealth {
  /// Why and until when only trials are sent to a host.
  struct Hold: Sendable, Equatable {
    enum Cause: Sendable, Equatable {
      /// The server asks for a pause.
      case requested
      /// Different images have failed; `reason` is the last failure.
      case failures(reason: String)
    }

    /// The earliest time of the next trial.
    var until: ContinuousClock.Instant
    var cause: Cause
    /// The number of pauses in a row, from 1.
    var strikes: Int

    /// The error of a download that does not wait for the hold to end.
    func error(of site: String, now: ContinuousClock.Instant) -> DownloadError {
      let left = max(until - now, .zero)
      return switch cause {
      case .requested: .hostPaused(host: Self.host(of: site), retryAfter: left)
      case .failures(let reason): .hostClosed(host: Self.host(of: site), reason: reason, retryAfter: left)
      }
    }

    func pause(of site: String, isWaitedFor: Bool, now: ContinuousClock.Instant) -> HostPause {
      var failure: String?
      if case .failures(let reason) = cause { failure = reason }
      return HostPause(
        host: Self.host(of: site), duration: max(until - now, .zero), failure: failure, isWaitedFor: isWaitedFor)
    }

    /// The host of a site for messages: without the scheme and its default port.
    private static func host(of site: String) -> String { CurlURL(site)?.shownHost ?? site }
  }

  /// When a transfer began. Its outcome is compared with later events.
  typealias Beginning = ContinuousClock.Instant

  /// The change that follows from an outcome.
  enum Change: Equatable {
    case none
    /// The host is held, or held for longer.
    case held(Hold)
    /// The hold has ended. These images are to blame for their failures, which were not charged yet.
    case up(toBlame: [DownloadTicket])
  }

  private let policy: Policy
  /// Nil while the host is up.
  private(set) var hold: Hold?
  /// When the hold began.
  private var heldSince: ContinuousClock.Instant
  /// Since when the waiting downloads have seen no progress. Counts only time in which the host was tried.
  private var waitedSince: ContinuousClock.Instant
  /// The running trial, if any.
  private(set) var trial: DownloadTicket?
  /// Whether the waiting downloads were given up. New downloads are given up as well, unless a trial is due.
  private(set) var isGivenUp = false
  /// Whether an image is known that the host has sent.
  var hasGoodImage = false
  private struct Suspicion {
    /// When its last transfer began, and when that failed.
    var began, failed: ContinuousClock.Instant
    /// Its failures, and the attempts that were charged to it (`charges`).
    var failures = 1
    var charges = 0
    /// Whether the last failure was a request for a pause.
    var isPause = false
  }

  /// The images that have failed with no response since.
  private var suspects: [DownloadTicket: Suspicion] = [:]
  /// The latest beginning of a transfer that had a response.
  private var lastGood: ContinuousClock.Instant?
  private var responsesInARow = 0
  private var lastResponse: ContinuousClock.Instant?
  /// When it last sent an image that had failed before, and the most failures that such an image had.
  private var recovered: ContinuousClock.Instant?
  private var mostRecovered = 0
  private var strikes = 0
  /// The trials in this hold, and when the last one began.
  private var trials = 0
  private var lastTrial: ContinuousClock.Instant
  /// Whether the last hold ended with a probe.
  private var wasProbed = false
  /// Trials in a row that received a request for a pause, and its length.
  private var pauseRequests = 0
  private var requestedPause: Duration?

  init(_ policy: Policy, now: ContinuousClock.Instant) {
    (self.policy, heldSince, waitedSince, lastTrial) = (policy, now, now, now)
  }

  /// Whether it was held recently. Then images are drawn at random.
  private(set) var isDoubtful = false
  /// Whether requests for a pause concern the whole host. A pause longer than `patience` needs twice as many trials,
  /// because it makes the waiting downloads fail.
  private var believesPause: Bool {
    let isLong = policy.patience > .zero && requestedPause.map { $0 > policy.patience } == true
    return pauseRequests >= (isLong ? 2 * policy.trialsUntilBelieved : policy.trialsUntilBelieved)
  }

  /// Whether failed images succeed later, as at a host that limits the rate of requests. Then failures are the host's.
  func isFickle(at now: ContinuousClock.Instant) -> Bool {
    recovered.map { now - $0 < max(policy.patience, policy.recently) } ?? false
  }

  /// The number of further attempts of an image: more than twice the failures of images that succeeded in the end.
  func furtherAttempts(at now: ContinuousClock.Instant) -> Int {
    isFickle(at: now) ? min(2 * mostRecovered + 2, policy.mostFurtherAttempts) : 0
  }

  /// Whether the next trial should be a probe, an image that the host has sent before. If all waiting images have
  /// failed, every other trial is one. Otherwise every other trial from the third on is one, and the first if a probe
  /// ended the last hold. After a pause that the host asked for there is no probe, because it would take one of the few
  /// requests that the host accepts. But if nothing has arrived for half of `patience`, the requests for pauses may
  /// concern broken images of a host that is up.
  func prefersProbe(allHaveFailed: Bool, at now: ContinuousClock.Instant) -> Bool {
    let isLate = policy.patience > .zero && now - waitedSince > policy.patience / 2
    guard hasGoodImage, !believesPause || isLate else { return false }
    return allHaveFailed ? !trials.isMultiple(of: 2) : trials.isMultiple(of: 2) && (trials > 0 || wasProbed)
  }

  /// Whether a trial may begin.
  func isTrialDue(at now: ContinuousClock.Instant) -> Bool { trial == nil && hold.map { $0.until <= now } ?? false }

  /// Whether a trial runs or is close, so that even downloads that do not wait for held hosts may wait for it.
  func isTrialClose(at now: ContinuousClock.Instant) -> Bool {
    trial != nil || hold.map { $0.until - now <= policy.shortWait } ?? true
  }

  /// Whether the waiting downloads are to be given up. A last trial comes before that.
  func isOverdue(at now: ContinuousClock.Instant) -> Bool {
    guard trial == nil, let end = givesUp, end <= now else { return false }
    return !isTrialDue(at: now) || !isGivenUp && lastTrial >= end
  }

  /// When the waiting downloads are given up; nil while the host is up.
  var givesUp: ContinuousClock.Instant? {
    guard let hold, policy.patience > .zero else { return nil }
    if isGivenUp { return waitedSince }
    let end = waitedSince + policy.patience
    return believesPause && hold.until > end ? waitedSince : end
  }

  // MARK: Transfers

  /// A transfer begins. While the host is held, it is the trial if one is due.
  mutating func begin(_ ticket: DownloadTicket, at now: ContinuousClock.Instant) -> Beginning {
    if isTrialDue(at: now), let hold {
      (trial, trials, lastTrial) = (ticket, trials + 1, now)
      // Time in which the host was not tried does not count.
      if !isGivenUp { waitedSince += now - hold.until }
    }
    return now
  }

  /// A transfer has ended, or has received nothing for so long that it counts as failed for now.
  ///
  /// - Parameters:
  ///   - failures: How often the image has failed before.
  ///   - isProbe: Whether the transfer was a probe.
  mutating func ended(
    _ ticket: DownloadTicket, since beginning: Beginning, _ outcome: TransferOutcome, failures: Int = 0,
    isProbe: Bool = false, at now: ContinuousClock.Instant
  ) -> Change {
    let isTrial = trial == ticket
    if isTrial { trial = nil }
    switch outcome {
    case .responded:
      if failures > 0 { (recovered, mostRecovered) = (now, max(mostRecovered, failures)) }
      return responded(since: beginning, isProbe: isProbe, at: now)
    case .inconclusive:
      // The next trial is due from now on.
      if isTrial, let hold { self.hold?.until = max(hold.until, now) }
      return .none
    case .failed where policy.patience == .zero && now - beginning < policy.shortWait:
      // Downloads that do not wait for hosts would all fail at once while it is held, so single images must not hold
      // it. The host responds quickly, so nothing waits for it.
      return hold.map { $0.cause != .requested } == true
        ? responded(since: beginning, isProbe: isProbe, at: now) : .none
    case .failed(let reason), .unreachable(let reason):
      if hold != nil {
        suspect(ticket, since: beginning, at: now)
        guard isTrial else { return .none }
        pauseRequests = 0
        return hold(.failures(reason: reason), at: now)
      }
      // A transfer that began before this one may have received its response before the host went down.
      if !isFickle(at: now), let lastGood, lastGood >= beginning { return .none }
      suspect(ticket, since: beginning, at: now)
      let failed = policy.patience > .zero ? suspects.count : suspects.values.count { !$0.isPause }
      let isEnough =
        failed >= (isResponding(at: now) ? policy.suspectsOfRespondingHost : policy.suspectsUntilHeld)
        || hasGoodImage && fewFailAgain
      return isEnough ? hold(.failures(reason: reason), at: now) : .none
    case .pause(let requested):
      // `Retry-After: 0` requests no pause, but the host still refused the request.
      let named = requested.flatMap { $0 > .zero ? min($0, policy.maximumPause) : nil }
      if let hold {
        suspect(ticket, since: beginning, isPause: true, at: now)
        // Transfers that were running when a pause began can only lengthen it.
        guard isTrial || believesPause && named.map({ now + $0 > hold.until }) == true else { return .none }
        requestedPause = believesPause ? named : [requestedPause, named].compactMap { $0 }.max()
        if isTrial {
          pauseRequests = isFickle(at: now) ? max(pauseRequests + 1, policy.trialsUntilBelieved) : pauseRequests + 1
        }
        return self.hold(.requested, at: now)
      }
      suspect(ticket, since: beginning, isPause: true, at: now)
      // The host is tried with another image, unless others have just succeeded.
      let isUp = hasResponded(within: policy.recently, at: now) && !isFickle(at: now)
      let enough = policy.patience == .zero ? policy.suspectsOfPause : isUp ? policy.suspectsUntilHeld : 1
      guard suspects.count >= enough, policy.patience > .zero || !isResponding(at: now) else { return .none }
      requestedPause = named
      return hold(.requested, at: now)
    }
  }

  private mutating func responded(
    since beginning: ContinuousClock.Instant, isProbe: Bool, at now: ContinuousClock.Instant
  ) -> Change {
    lastResponse = now
    lastGood = max(lastGood ?? beginning, beginning)
    let wasHeld = hold != nil
    if wasHeld, beginning < heldSince {
      waitedSince = now
      return .none
    }
    // Images that failed long before this one began may have met an outage, and so may images that began after it.
    let toBlame = suspects.filter {
      $0.value.began <= beginning && ($0.value.isPause || $0.value.failed >= beginning - policy.recently)
    }
    responsesInARow = hold == nil ? responsesInARow + 1 : 1
    if responsesInARow >= policy.responsesUntilCalm { (strikes, isDoubtful) = (0, false) }
    guard wasHeld else {
      suspects = suspects.filter { $0.value.began > beginning }
      return .none
    }
    wasProbed = isProbe
    if isProbe { strikes = 0 }
    (hold, trial, suspects, pauseRequests, requestedPause, isGivenUp) = (nil, nil, [:], 0, nil, false)
    return .up(toBlame: Array(toBlame.keys))
  }

  private mutating func suspect(
    _ ticket: DownloadTicket, since beginning: ContinuousClock.Instant, isPause: Bool = false,
    at now: ContinuousClock.Instant
  ) {
    let known = suspects[ticket]
    suspects[ticket] = Suspicion(
      began: beginning, failed: now, failures: (known?.failures ?? 0) + 1, charges: known?.charges ?? 0,
      isPause: isPause)
  }

  /// Whether images have failed several times without a response between. Few images may be left, and a probe decides.
  private var fewFailAgain: Bool {
    let attempts = suspects.values.reduce(0) { $0 + $1.failures }
    return attempts >= policy.suspectsUntilHeld && attempts > suspects.count
  }

  /// Whether the host responded a moment ago (`upAfterResponse`).
  private func isResponding(at now: ContinuousClock.Instant) -> Bool {
    hasResponded(
      within: policy.patience > .zero ? policy.upAfterResponse : policy.upAfterResponseWithoutPatience, at: now)
  }

  private func hasResponded(within time: Duration, at now: ContinuousClock.Instant) -> Bool {
    lastResponse.map { now - $0 < time } ?? false
  }

  /// Holds the host until the next trial.
  private mutating func hold(_ cause: Hold.Cause, at now: ContinuousClock.Instant) -> Change {
    if hold == nil { (heldSince, waitedSince, trials) = (now, now, 0) }
    strikes += 1
    (responsesInARow, isDoubtful) = (0, true)
    var pause = isGivenUp ? policy.pauseAfterGivingUp : policy.backoff.bound(after: strikes)
    if believesPause {
      pause = max(
        pause, requestedPause ?? policy.unnamedPause.bound(after: pauseRequests - policy.trialsUntilBelieved + 1))
    }
    let hold = Hold(until: max(now + pause, hold?.until ?? now), cause: cause, strikes: strikes)
    self.hold = hold
    return .held(hold)
  }

  // MARK: What follows

  /// Whether the host may be to blame for current failures: enough different images have failed, or a probe will
  /// decide.
  var isSuspected: Bool { hold != nil && (suspects.count >= policy.suspectsUntilHeld || hasGoodImage) }

  /// The attempts that were charged to each suspect, which are taken back because the host may be to blame.
  mutating func takeCharges() -> [DownloadTicket: Int] {
    guard isSuspected else { return [:] }
    defer { for ticket in suspects.keys { suspects[ticket]?.charges = 0 } }
    return suspects.mapValues(\.charges).filter { $0.value > 0 }
  }

  /// Records that an attempt was charged to an image. It may be taken back later.
  mutating func noteCharge(to ticket: DownloadTicket) { suspects[ticket]?.charges += 1 }

  /// Gives up the waiting and all new downloads, except for an occasional one that tries the host.
  mutating func giveUp(at now: ContinuousClock.Instant) {
    guard !isGivenUp else { return }
    isGivenUp = true
    guard !believesPause, var hold else { return }
    hold.until = max(hold.until, now + policy.pauseAfterGivingUp)
    self.hold = hold
  }

  /// Adopts a hold from another process if it is longer than our own and the host has not responded here meanwhile.
  /// Returns whether it was adopted.
  mutating func adopt(_ hold: Hold, at now: ContinuousClock.Instant) -> Bool {
    guard hold.until > now, hold.until <= now + policy.maximumPause else { return false }
    // It may be our own hold, read back with a rounding error of some milliseconds.
    if let current = self.hold, current.until + .milliseconds(100) >= hold.until { return false }
    if hold.cause != .requested, hasResponded(within: policy.recently, at: now) { return false }
    if self.hold == nil { (heldSince, waitedSince, trials) = (now, now, 0) }
    strikes = max(strikes, min(hold.strikes, 100))
    if hold.cause == .requested { pauseRequests = policy.trialsUntilBelieved }
    self.hold = hold
    return true
  }
}

extension HostHealth {
  /// The limits of evidence and pauses.
  package struct Policy: Sendable {
    /// The number of failed images without a response between them that hold a host; or of failed attempts, at a host
    /// that can be probed. Default 3.
    var suspectsUntilHeld = 3
    /// The number of trials in a row with a request for a pause after which it concerns the whole host; default 3.
    var trialsUntilBelieved = 3
    /// A request for a pause leads to a trial, unless the host has responded this recently; default 2 s.
    var recently = Duration.seconds(2)
    /// A host that has had a response this recently is held only after `suspectsOfRespondingHost` failures; default 300
    /// ms.
    var upAfterResponse = Duration.milliseconds(300)
    /// The same where downloads do not wait for held hosts; default 5 s.
    var upAfterResponseWithoutPatience = Duration.seconds(5)
    /// The number of failures that hold a host which has just responded; default 16. If it were more than
    /// `maximumLentPerSilentSite`, silent transfers could take all slots first.
    var suspectsOfRespondingHost = 16
    /// How many requests for a pause hold a host if downloads do not wait for held hosts; default 24.
    var suspectsOfPause = 24
    /// After so many responses in a row the next hold begins with the shortest pause again; default 12.
    var responsesUntilCalm = 12
    /// The pause between trials of a host that was given up; default 60 s.
    var pauseAfterGivingUp = Duration.seconds(60)
    /// The pauses between trials; default 25 ms to 60 s.
    var backoff = Backoff(first: .milliseconds(25), longest: .seconds(60))
    /// The pauses of a host that asks for a pause without a length; default 1 s to 60 s.
    var unnamedPause = Backoff(first: .seconds(1), longest: .seconds(60))
    /// The most further attempts of an image of a fickle host; default 30.
    var mostFurtherAttempts = 30
    /// The longest pause accepted from a server or another process. Default a day.
    var maximumPause = Duration.seconds(86_400)
    /// Downloads that do not wait for held hosts still wait for a trial that is this close; default 1 s.
    var shortWait = Duration.seconds(1)
    /// Shorter holds are neither reported nor shared with other processes; default 1 s.
    var notableHold = Duration.seconds(1)
    /// How long downloads wait for a host without a response from it; default 0.
    var patience = Duration.zero

    package init() {}
  }
}

/// An event: a host is paused.
package struct HostPause: Sendable, Equatable {
  /// The name, with the port if it is not the default.
  package var host: String
  /// How long from now.
  package var duration: Duration
  /// The last failure, if failures are the reason; nil if the server asked for the pause.
  package var failure: String?
  /// Whether downloads wait until it is over.
  package var isWaitedFor: Bool
}
