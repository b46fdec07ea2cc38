import ThumbnailCore

/// Whether a host is up, judged by the transfers of its images, and when it is tried while it is not. A pure value: the
/// caller passes the time, and carries out what is returned.
///
/// **What fails is an image, until others say otherwise.** A failure is a suspicion as long as no other image has had a
/// response since its transfer began; once one has, the failed image is to blame. Three suspects with no response
/// between them, and the host is held: nothing starts there but single trials, with pauses that begin at 25 ms and
/// double, until any transfer has a response. A trial that fails only leads to the next pause.
///
/// **A request for a pause (429 or 503) concerns the image alone** in the same way. It is believed of the host once
/// three trials in a row got it: then the host is held for as long as it asks.
///
/// **A host that sends images which have failed before is fickle**: it may limit the rate of requests. Its failures are
/// not the images' own, images have more attempts, and one trial is enough to believe in a pause.
///
/// Where all that wait have failed already, and every other time after two trials, an image is tried that the host has
/// sent before (`probe`): if that comes, the others fail by themselves.
package struct HostHealth {
  /// Why and until when only trials are sent to a host.
  struct Hold: Sendable, Equatable {
    enum Cause: Sendable, Equatable {
      /// The server asks for a pause.
      case requested
      /// Different images have failed; `reason` is the last failure.
      case failures(reason: String)
    }

    /// The next trial is not before this.
    var until: ContinuousClock.Instant
    var cause: Cause
    /// The number of pauses in a row, from 1.
    var strikes: Int
  }

  /// When a transfer begins, to judge its end by.
  typealias Beginning = ContinuousClock.Instant

  /// What follows from evidence.
  enum Change: Equatable {
    case none
    /// The host is held, or held for longer.
    case held(Hold)
    /// The host is held no longer. These images failed by themselves, which was not charged yet.
    case up(toBlame: [DownloadTicket])
  }

  private let policy: Policy
  /// Nil while the host is up.
  private(set) var hold: Hold?
  /// When the hold began.
  private var heldSince: ContinuousClock.Instant
  /// Since when those that wait have seen no progress, as far as the host was tried.
  private var waitedSince: ContinuousClock.Instant
  /// What tries the host; nil if nothing does.
  private(set) var trial: DownloadTicket?
  /// Whether those that waited have been given up; new ones are, too, unless a trial is due.
  private(set) var isGivenUp = false
  /// Whether an image is known that the host has sent.
  var hasGoodImage = false
  private struct Suspicion {
    /// When its last transfer began, and when that failed.
    var began, failed: ContinuousClock.Instant
    /// Its failures, and the attempts that were charged to it for them.
    var failures = 1
    var charges = 0
    /// Whether it was asked to pause the last time.
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
  /// The trials since the host is held, and when the last one began.
  private var trials = 0
  private var lastTrial: ContinuousClock.Instant
  /// Whether the last hold ended with a probe.
  private var wasProbed = false
  /// Trials in a row that were asked to pause, and for how long.
  private var pauseRequests = 0
  private var requestedPause: Duration?

  init(_ policy: Policy, now: ContinuousClock.Instant) {
    (self.policy, heldSince, waitedSince, lastTrial) = (policy, now, now, now)
  }

  /// Whether it was held a short while ago, so that images are better drawn at random.
  private(set) var isDoubtful = false
  /// Whether a pause of the whole host is believed: more trials are needed for one that would end the wait for the
  /// host.
  private var believesPause: Bool {
    let isLong = policy.patience > .zero && requestedPause.map { $0 > policy.patience } == true
    return pauseRequests >= (isLong ? 2 * policy.trialsUntilBelieved : policy.trialsUntilBelieved)
  }

  /// Whether images that fail come later, as at a host that limits the rate of requests: failures are its own.
  func isFickle(at now: ContinuousClock.Instant) -> Bool {
    recovered.map { now - $0 < max(policy.patience, policy.recently) } ?? false
  }

  /// How many more attempts an image has than elsewhere: more than twice as many as others that came in the end.
  func furtherAttempts(at now: ContinuousClock.Instant) -> Int {
    isFickle(at: now) ? min(2 * mostRecovered + 2, policy.mostFurtherAttempts) : 0
  }

  /// Whether the next trial is better an image that it has sent before: every other time where all that wait have
  /// failed, otherwise from the third trial on, or the first if such an image was the one to come the last time. Never
  /// after a pause that the host asked for, where a probe would take one of the few requests that it responds to, until
  /// nothing has come for half the patience: then those that ask for pauses may be the broken ones of a host that is
  /// up.
  func prefersProbe(allHaveFailed: Bool, at now: ContinuousClock.Instant) -> Bool {
    let isLate = policy.patience > .zero && now - waitedSince > policy.patience / 2
    guard hasGoodImage, !believesPause || isLate else { return false }
    return allHaveFailed ? !trials.isMultiple(of: 2) : trials.isMultiple(of: 2) && (trials > 0 || wasProbed)
  }

  /// Whether a trial may begin.
  func isTrialDue(at now: ContinuousClock.Instant) -> Bool { trial == nil && hold.map { $0.until <= now } ?? false }

  /// Whether what does not wait for pauses may wait: the next trial is close, or running.
  func isTrialClose(at now: ContinuousClock.Instant) -> Bool {
    trial != nil || hold.map { $0.until - now <= policy.shortWait } ?? true
  }

  /// Whether those that wait are to be given up. The last trial comes first.
  func isOverdue(at now: ContinuousClock.Instant) -> Bool {
    guard trial == nil, let end = givesUp, end <= now else { return false }
    return !isTrialDue(at: now) || !isGivenUp && lastTrial >= end
  }

  /// When those that wait are given up; nil while the host is up.
  var givesUp: ContinuousClock.Instant? {
    guard let hold, policy.patience > .zero else { return nil }
    if isGivenUp { return waitedSince }
    let end = waitedSince + policy.patience
    return believesPause && hold.until > end ? waitedSince : end
  }

  // MARK: Transfers

  /// A transfer begins. While the host is held it is the trial, if that is due.
  mutating func begin(_ ticket: DownloadTicket, at now: ContinuousClock.Instant) -> Beginning {
    if isTrialDue(at: now), let hold {
      (trial, trials, lastTrial) = (ticket, trials + 1, now)
      // Only time in which the host was tried counts.
      if !isGivenUp { waitedSince += now - hold.until }
    }
    return now
  }

  /// A transfer has ended, or has received nothing for so long that it counts as failed for now.
  ///
  /// - Parameters:
  ///   - failures: How often the image has failed before.
  ///   - isProbe: Whether it was an image that the host has sent before.
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
      // Where a held host fails all at once, single images must not hold it. It responds quickly, so nobody waits for
      // it.
      return hold.map { $0.cause != .requested } == true
        ? responded(since: beginning, isProbe: isProbe, at: now) : .none
    case .failed(let reason), .unreachable(let reason):
      if hold != nil {
        suspect(ticket, since: beginning, at: now)
        guard isTrial else { return .none }
        pauseRequests = 0
        return hold(.failures(reason: reason), at: now)
      }
      // A transfer that began before this one may have had its response from a host that is down by now.
      if !isFickle(at: now), let lastGood, lastGood >= beginning { return .none }
      suspect(ticket, since: beginning, at: now)
      let failed = policy.patience > .zero ? suspects.count : suspects.values.count { !$0.isPause }
      let isEnough =
        failed >= (isResponding(at: now) ? policy.suspectsOfRespondingHost : policy.suspectsUntilHeld)
        || hasGoodImage && fewFailAgain
      return isEnough ? hold(.failures(reason: reason), at: now) : .none
    case .pause(let requested):
      // `Retry-After: 0` requests no pause, but the request was still one too many.
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
      // A neighbour is tried by itself, unless neighbours have just passed.
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
    // What failed long before this began may have met an outage, and what began after it may meet one.
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

  /// Whether images have failed several times with no response between: few may be left, and one that the host has sent
  /// before will tell.
  private var fewFailAgain: Bool {
    let attempts = suspects.values.reduce(0) { $0 + $1.failures }
    return attempts >= policy.suspectsUntilHeld && attempts > suspects.count
  }

  /// Whether it has had a response a moment ago, or some seconds where what is held fails at once for the sake of
  /// others.
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

  /// Whether the host may be to blame for what fails now: images differ, or one is known that will tell.
  var isSuspected: Bool { hold != nil && (suspects.count >= policy.suspectsUntilHeld || hasGoodImage) }

  /// The suspects may not be to blame: what was charged to each for that, to be taken back.
  mutating func takeCharges() -> [DownloadTicket: Int] {
    guard isSuspected else { return [:] }
    defer { for ticket in suspects.keys { suspects[ticket]?.charges = 0 } }
    return suspects.mapValues(\.charges).filter { $0.value > 0 }
  }

  /// An attempt was charged to an image, which may be taken back later.
  mutating func noteCharge(to ticket: DownloadTicket) { suspects[ticket]?.charges += 1 }

  /// Those that wait are given up, and those that come, except for one now and then that tries the host.
  mutating func giveUp(at now: ContinuousClock.Instant) {
    guard !isGivenUp else { return }
    isGivenUp = true
    guard !believesPause, var hold else { return }
    hold.until = max(hold.until, now + policy.pauseAfterGivingUp)
    self.hold = hold
  }

  /// Adopts a hold from another process. Returns whether it is longer than our own, and we know nothing better.
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
    /// A host is held once so many images have failed with no response between them, or so many attempts at a host that
    /// can be probed.
    var suspectsUntilHeld = 3
    /// A pause of the whole host is believed once so many trials in a row got it.
    var trialsUntilBelieved = 3
    /// A request for a pause leads to a trial by itself, unless the host has responded this recently.
    var recently = Duration.seconds(2)
    /// A host that has had a response this recently is held only after `suspectsOfRespondingHost` failures; default 300
    /// ms.
    var upAfterResponse = Duration.milliseconds(300)
    /// The same where downloads do not wait for held hosts; default 5 s.
    var upAfterResponseWithoutPatience = Duration.seconds(5)
    /// How many failures hold a host that has just had a response; default 16. More than `maximumLentPerSilentSite`
    /// silent transfers could take all slots before they are so many.
    var suspectsOfRespondingHost = 16
    /// How many requests for a pause hold a host where downloads do not wait for held hosts.
    var suspectsOfPause = 24
    /// After so many responses in a row the next hold begins with the first pause again.
    var responsesUntilCalm = 12
    /// The pause between trials of a host that was given up; default 60 s.
    var pauseAfterGivingUp = Duration.seconds(60)
    /// The pauses between trials; default 25 ms to 60 s.
    var backoff = Backoff(first: .milliseconds(25), longest: .seconds(60))
    /// The pauses of a host that asks for one without a length; default 1 s to 60 s.
    var unnamedPause = Backoff(first: .seconds(1), longest: .seconds(60))
    /// How many more attempts an image of a fickle host has at most; default 30.
    var mostFurtherAttempts = 30
    /// The longest pause accepted from a server or another process. Default a day.
    var maximumPause = Duration.seconds(86_400)
    /// What does not wait for held hosts waits for a trial that is this close; default 1 s.
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

extension HostHealth.Hold {
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
