/// A circuit breaker for each host: requests pass, or are held, for a pause that the server requested or after repeated
/// failures. A pure value: the caller passes the time.
///
/// A server requests a pause with 429, or 503 with `Retry-After`. After five consecutive failures that are the host's
/// fault it is held as well, longer each time. When a hold ends, one transfer tries the host; the others continue once
/// that got a response. Transfers that were running when a hold began can only extend it.
package struct CircuitBreaker {
  /// The limits for failures and pauses.
  package struct Policy: Sendable {
    /// A host is held after this many consecutive failures.
    var mostFailures = 5
    /// The first hold after failures, and the first pause that a server requests without a duration; doubled each
    /// consecutive time. Default 1 s.
    var firstPause = Duration.seconds(1)
    /// The longest hold that the server has not specified. Default 60 s.
    var longestPause = Duration.seconds(60)
    /// The longest pause accepted from a server or another process. Default a day.
    var longestBelievable = Duration.seconds(86_400)
    /// After this many consecutive holds for failures a host counts as down: downloads no longer wait for it.
    var closingsUntilDown = 3

    package init() {}
  }

  /// Why and until when no request is sent to a host.
  struct Hold: Sendable, Equatable {
    enum Cause: Sendable, Equatable {
      /// The server asked for a pause.
      case asked
      /// Consecutive failures; `reason` is the last.
      case failures(reason: String)
    }

    var until: ContinuousClock.Instant
    var cause: Cause
    /// The number of consecutive holds of this kind, from 1.
    var strikes: Int
  }

  /// What a transfer's outcome says about its host.
  enum Verdict: Sendable, Equatable {
    /// The host works.
    case answered
    /// The host does not work.
    case failed(reason: String)
    /// The server asks for a pause, of this duration if it gave one.
    case pause(Duration?)
    /// It says nothing about the host.
    case none
  }

  /// Identifies a transfer from its start to its end.
  struct Pass: Sendable, Equatable {
    let site: String
    fileprivate let epoch: UInt64
  }

  enum Gate: Equatable {
    case open
    case held(Hold)
    /// The hold has ended: the next transfer is the trial.
    case halfOpen
    /// The trial is running.
    case trying
  }

  private struct Host {
    var gate = Gate.open
    var failures = 0
    var strikes = 0
    /// The number of its last hold. Transfers that began before it say nothing about the time after.
    var epoch: UInt64

    var isForgettable: Bool { gate == .open && failures == 0 && strikes == 0 }
  }

  /// The most hosts with a state; beyond that, those that are open are dropped.
  private static let mostHosts = 4096

  let policy: Policy
  private var hosts: [String: Host] = [:]
  /// Numbers all holds of all hosts, so that a host that was dropped never gets an old number again.
  private var lastEpoch: UInt64 = 0

  init(_ policy: Policy = Policy()) { self.policy = policy }

  /// A host's state; a hold that is over by `now` has become half-open.
  mutating func gate(of site: String, at now: ContinuousClock.Instant) -> Gate {
    guard let host = hosts[site] else { return .open }
    if case .held(let hold) = host.gate, hold.until <= now { hosts[site]?.gate = .halfOpen }
    return hosts[site]?.gate ?? .open
  }

  /// Whether a trial of the host is running.
  func isTrying(_ site: String) -> Bool { hosts[site]?.gate == .trying }

  /// A transfer starts.
  mutating func begin(at site: String) -> Pass {
    if hosts[site]?.gate == .halfOpen { hosts[site]?.gate = .trying }
    return Pass(site: site, epoch: hosts[site]?.epoch ?? 0)
  }

  /// A transfer has ended. Returns the hold that results: a new one, or one that was extended.
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
      // `Retry-After: 0` names no pause, but the request was still one too many.
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

  /// Adopts a hold from another process. Returns it if it is longer than our own.
  mutating func adopt(_ hold: Hold, of site: String, at now: ContinuousClock.Instant) -> Hold? {
    guard hold.until > now, hold.until <= now + policy.longestBelievable else { return nil }
    var host = hosts[site] ?? Host(epoch: 0)
    // It may be our own hold, read back with a rounding error of some milliseconds.
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
