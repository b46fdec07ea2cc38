/// What is known of each host: open, held for a pause that it has asked for, or closed after failures in a row. A pure
/// value: the clock is the caller's.
///
/// A pause is the host's own word (429, or 503 with `Retry-After`). After five failures in a row that are the host's
/// doing it is closed, for longer each time. When either is over, one transfer tries the host; the others go on once
/// that has brought an answer. Transfers that were under way when a pause began lengthen it at most.
package struct HostStates {
  /// How failures and pauses count.
  package struct Policy: Sendable {
    /// After so many failures in a row a host is closed.
    var mostFailures = 5
    /// How long a host is closed for the first time, and how long it is left alone when it asks for a pause without
    /// saying how long; each further time in a row twice as long. Default 1 s.
    var firstPause = Duration.seconds(1)
    /// No pause that a host has not asked for is longer. Default 60 s.
    var longestPause = Duration.seconds(60)
    /// No pause is believed to be longer, whoever names it. Default a day.
    var longestBelievable = Duration.seconds(86_400)
    /// Closed so many times in a row, a host is down: nobody waits for it any more.
    var closingsUntilDown = 3

    package init() {}
  }

  /// Why and for how long nothing is asked of a host.
  struct Hold: Sendable, Equatable {
    enum Cause: Sendable, Equatable {
      /// The host wants it.
      case asked
      /// Failures in a row; `reason` is the last.
      case failures(reason: String)
    }

    var until: ContinuousClock.Instant
    var cause: Cause
    /// Which of its kind in a row, from 1.
    var strikes: Int
  }

  /// What a transfer's end says of its host.
  enum Verdict: Sendable, Equatable {
    /// The host works.
    case answered
    /// It does not.
    case failed(reason: String)
    /// It wants to be left alone, for as long as it says, if it does.
    case pause(Duration?)
    /// Nothing.
    case none
  }

  /// Goes with a transfer from its start to its end.
  struct Pass: Sendable, Equatable {
    let site: String
    fileprivate let epoch: UInt64
  }

  enum Gate: Equatable {
    case open
    case held(Hold)
    /// A hold is over: the next transfer is the trial.
    case halfOpen
    /// The trial is under way.
    case trying
  }

  private struct Host {
    var gate = Gate.open
    var failures = 0
    var strikes = 0
    /// Counts the holds. What began before the last tells nothing about what came after.
    var epoch: UInt64

    var isForgettable: Bool { gate == .open && failures == 0 && strikes == 0 }
  }

  /// Hosts of which something is known; beyond, those that are open are forgotten.
  private static let mostHosts = 4096

  let policy: Policy
  private var hosts: [String: Host] = [:]
  /// Numbers all holds of all hosts, so that a host that was forgotten never has an old number again.
  private var lastEpoch: UInt64 = 0

  init(_ policy: Policy = Policy()) { self.policy = policy }

  /// How a host stands; a hold that is over by `now` has ended.
  mutating func gate(of site: String, at now: ContinuousClock.Instant) -> Gate {
    guard let host = hosts[site] else { return .open }
    if case .held(let hold) = host.gate, hold.until <= now { hosts[site]?.gate = .halfOpen }
    return hosts[site]?.gate ?? .open
  }

  /// Whether a transfer is just trying the host.
  func isTrying(_ site: String) -> Bool { hosts[site]?.gate == .trying }

  /// A transfer starts.
  mutating func begin(at site: String) -> Pass {
    if hosts[site]?.gate == .halfOpen { hosts[site]?.gate = .trying }
    return Pass(site: site, epoch: hosts[site]?.epoch ?? 0)
  }

  /// A transfer has ended. The hold that follows from it, if any: a new one, or one that has become longer.
  mutating func ended(_ pass: Pass, _ verdict: Verdict, at now: ContinuousClock.Instant) -> Hold? {
    var host = hosts[pass.site] ?? Host(epoch: 0)
    let isCurrent = pass.epoch == host.epoch
    let isTrial = isCurrent && host.gate == .trying
    var new: Hold?
    switch verdict {
    case .none:
      if isTrial { host.gate = .halfOpen }
    case .answered:
      host.failures = 0
      if isTrial { (host.gate, host.strikes) = (.open, 0) }
      if host.gate == .open, isCurrent { host.strikes = 0 }
    case .failed(let reason):
      guard isCurrent else { return nil }
      host.failures += 1
      if isTrial || host.failures >= policy.mostFailures {
        host.strikes += 1
        new = Hold(until: now + pause(host.strikes), cause: .failures(reason: reason), strikes: host.strikes)
      }
    case .pause(let wish):
      host.failures = 0
      // Zero seconds ask for no pause, and yet were the answer to one request too many.
      let named = wish.flatMap { $0 > .zero ? min($0, policy.longestBelievable) : nil }
      if isCurrent {
        host.strikes = named == nil ? host.strikes + 1 : 0
        new = Hold(until: now + (named ?? pause(host.strikes)), cause: .asked, strikes: max(1, host.strikes))
      } else if case .held(let current) = host.gate, let named, now + named > current.until {
        host.gate = .held(Hold(until: now + named, cause: .asked, strikes: current.strikes))
        hosts[pass.site] = host
        return Hold(until: now + named, cause: .asked, strikes: current.strikes)
      }
    }
    if let new { hold(&host, new) }
    keep(host, at: pass.site)
    return new
  }

  /// Takes over what another process knows of a host. The hold, where it is longer than our own.
  mutating func adopt(_ hold: Hold, of site: String, at now: ContinuousClock.Instant) -> Hold? {
    guard hold.until > now, hold.until <= now + policy.longestBelievable else { return nil }
    var host = hosts[site] ?? Host(epoch: 0)
    // What comes back from others may be our own, some milliseconds off.
    if case .held(let current) = host.gate, current.until + .milliseconds(100) >= hold.until { return nil }
    if hold.cause != .asked { host.strikes = max(host.strikes, hold.strikes) }
    self.hold(&host, hold)
    keep(host, at: site)
    return hold
  }

  private mutating func hold(_ host: inout Host, _ hold: Hold) {
    lastEpoch += 1
    host.epoch = lastEpoch
    host.failures = 0
    host.gate = .held(hold)
  }

  private func pause(_ strikes: Int) -> Duration {
    min(policy.firstPause * (1 << min(max(strikes, 1) - 1, 20)), policy.longestPause)
  }

  private mutating func keep(_ host: Host, at site: String) {
    guard !host.isForgettable else {
      hosts.removeValue(forKey: site)
      return
    }
    hosts[site] = host
    if hosts.count > Self.mostHosts { hosts = hosts.filter { $0.value.gate != .open || $0.key == site } }
  }
}
