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
    var maximumFailures = 5
    /// The holds after failures, and the pauses that a server requests without a duration; default 1 s to 60 s.
    var backoff = Backoff(first: .seconds(1), longest: .seconds(60))
    /// The longest pause accepted from a server or another process. Default a day.
    var maximumPause = Duration.seconds(86_400)
    /// After this many consecutive holds for failures a host counts as down: downloads no longer wait for it.
    var holdsUntilDown = 3

    package init() {}
  }

  /// Why and until when no request is sent to a host.
  struct Hold: Sendable, Equatable {
    enum Cause: Sendable, Equatable {
      /// The server asked for a pause.
      case requested
      /// Consecutive failures; `reason` is the last.
      case failures(reason: String)
    }

    var until: ContinuousClock.Instant
    var cause: Cause
    /// The number of consecutive holds of this kind, from 1.
    var strikes: Int
  }

  /// Identifies a transfer from its start to its end.
  struct Permit: Sendable, Equatable {
    let site: String
    fileprivate let epoch: UInt64
  }

  /// The state of a host.
  enum State: Equatable {
    /// Requests pass.
    case closed
    /// The host is held.
    case open(Hold)
    /// The hold has ended: the next transfer is the trial.
    case halfOpen
    /// The trial is running.
    case trial
  }

  private struct Host {
    var state = State.closed
    var failures = 0
    var strikes = 0
    /// The number of its last hold. Transfers that began before it say nothing about the time after.
    var epoch: UInt64

    var isIdle: Bool { state == .closed && failures == 0 && strikes == 0 }
  }

  /// The most hosts with a state; beyond that, those that are closed are dropped.
  private static let maximumHosts = 4096

  let policy: Policy
  private var hosts: [String: Host] = [:]
  /// Numbers all holds of all hosts, so that a host that was dropped never gets an old number again.
  private var lastEpoch: UInt64 = 0

  init(_ policy: Policy = Policy()) { self.policy = policy }

  /// A host's state; a hold that is over by `now` has become half-open.
  mutating func state(of site: String, at now: ContinuousClock.Instant) -> State {
    guard let host = hosts[site] else { return .closed }
    if case .open(let hold) = host.state, hold.until <= now { hosts[site]?.state = .halfOpen }
    return hosts[site]?.state ?? .closed
  }

  /// Whether a trial of the host is running.
  func isTrying(_ site: String) -> Bool { hosts[site]?.state == .trial }

  /// A transfer starts.
  mutating func begin(at site: String) -> Permit {
    if hosts[site]?.state == .halfOpen { hosts[site]?.state = .trial }
    return Permit(site: site, epoch: hosts[site]?.epoch ?? 0)
  }

  /// A transfer has ended. Returns the hold that results: a new one, or one that was extended.
  mutating func ended(_ permit: Permit, _ verdict: Verdict, at now: ContinuousClock.Instant) -> Hold? {
    var host = hosts[permit.site] ?? Host(epoch: 0)
    let isCurrent = permit.epoch == host.epoch
    let isTrial = isCurrent && host.state == .trial
    var new: Hold?
    switch verdict {
    case .inconclusive:
      if isTrial { host.state = .halfOpen }
    case .responded:
      host.failures = 0
      if isTrial { (host.state, host.strikes) = (.closed, 0) }
      if host.state == .closed, isCurrent { host.strikes = 0 }
    case .failed(let reason):
      guard isCurrent else { return nil }
      host.failures += 1
      if isTrial || host.failures >= policy.maximumFailures {
        host.strikes += 1
        new = Hold(
          until: now + policy.backoff.bound(after: host.strikes), cause: .failures(reason: reason),
          strikes: host.strikes)
      }
    case .pause(let requested):
      host.failures = 0
      // `Retry-After: 0` requests no pause, but the request was still one too many.
      let named = requested.flatMap { $0 > .zero ? min($0, policy.maximumPause) : nil }
      if isCurrent {
        host.strikes = named == nil ? host.strikes + 1 : 0
        new = Hold(
          until: now + (named ?? policy.backoff.bound(after: host.strikes)), cause: .requested,
          strikes: max(1, host.strikes))
      } else if case .open(let current) = host.state, let named, now + named > current.until {
        host.state = .open(Hold(until: now + named, cause: .requested, strikes: current.strikes))
        hosts[permit.site] = host
        return Hold(until: now + named, cause: .requested, strikes: current.strikes)
      }
    }
    if let new { hold(&host, new) }
    store(host, at: permit.site)
    return new
  }

  /// Adopts a hold from another process. Returns it if it is longer than our own.
  mutating func adopt(_ hold: Hold, of site: String, at now: ContinuousClock.Instant) -> Hold? {
    guard hold.until > now, hold.until <= now + policy.maximumPause else { return nil }
    var host = hosts[site] ?? Host(epoch: 0)
    // It may be our own hold, read back with a rounding error of some milliseconds.
    if case .open(let current) = host.state, current.until + .milliseconds(100) >= hold.until { return nil }
    if hold.cause != .requested { host.strikes = max(host.strikes, hold.strikes) }
    self.hold(&host, hold)
    store(host, at: site)
    return hold
  }

  private mutating func hold(_ host: inout Host, _ hold: Hold) {
    lastEpoch += 1
    host.epoch = lastEpoch
    host.failures = 0
    host.state = .open(hold)
  }

  private mutating func store(_ host: Host, at site: String) {
    guard !host.isIdle else {
      hosts.removeValue(forKey: site)
      return
    }
    hosts[site] = host
    if hosts.count > Self.maximumHosts { hosts = hosts.filter { $0.value.state != .closed || $0.key == site } }
  }
}
