import Testing

@testable import HTTPTransport
@testable import TestSupport
@testable import TransportTestSupport

/// What becomes of hosts that ask for pauses or fail, without a clock.
@Suite
struct CircuitBreakerTests {
  private static let start = ContinuousClock.now
  private let site = "https://images.example.org:443"
  private let broken = CircuitBreaker.Verdict.failed(reason: "refused")

  private func second(_ seconds: Double) -> ContinuousClock.Instant { Self.start + .seconds(seconds) }

  /// One transfer after the other, each with this end, at this second.
  @discardableResult
  private func run(
    _ hosts: inout CircuitBreaker, _ verdicts: [CircuitBreaker.Verdict], at seconds: Double = 0
  ) -> [CircuitBreaker.Hold?] {
    verdicts.map { verdict in
      let pass = hosts.begin(at: site)
      return hosts.ended(pass, verdict, at: second(seconds))
    }
  }

  @Test func fiveFailuresInARowCloseAHost() {
    var hosts = CircuitBreaker()
    run(&hosts, [broken, broken, broken, broken, .responded, broken, broken, broken, broken])
    #expect(hosts.state(of: site, at: second(0)) == .closed)
    run(&hosts, [broken])
    let hold = CircuitBreaker.Hold(until: second(1), cause: .failures(reason: "refused"), strikes: 1)
    #expect(hosts.state(of: site, at: second(0.9)) == .open(hold))
    #expect(hosts.state(of: "https://other.example.org:443", at: second(0)) == .closed)
  }

  @Test func oneTransferTriesAClosedHostAndEachFailureClosesItForLonger() {
    var hosts = CircuitBreaker()
    run(&hosts, Array(repeating: broken, count: 5))
    var now = 0.0
    for length in [1.0, 2, 4, 8, 16, 32, 60, 60] {
      guard case .open(let hold) = hosts.state(of: site, at: second(now)) else {
        Issue.record("not closed")
        return
      }
      #expect(hold.until == second(now + length))
      now += length
      #expect(hosts.state(of: site, at: second(now)) == .halfOpen)
      let trial = hosts.begin(at: site)
      #expect(hosts.state(of: site, at: second(now)) == .trial)
      #expect(hosts.ended(trial, broken, at: second(now)) != nil)
    }
    #expect(hosts.state(of: site, at: second(now + 60)) == .halfOpen)
    run(&hosts, [.responded])
    #expect(hosts.state(of: site, at: second(now + 60)) == .closed)
    run(&hosts, Array(repeating: broken, count: 4))
    #expect(hosts.state(of: site, at: second(now + 60)) == .closed)
  }

  @Test func aTrialThatSaysNothingLetsAnotherGo() {
    var hosts = CircuitBreaker()
    run(&hosts, [.pause(.seconds(2))])
    #expect(hosts.state(of: site, at: second(2)) == .halfOpen)
    let trial = hosts.begin(at: site)
    #expect(hosts.ended(trial, .inconclusive, at: second(3)) == nil)
    #expect(hosts.state(of: site, at: second(3)) == .halfOpen)
  }

  @Test func whatWasUnderWayWhenAPauseBeganOnlyLengthensIt() {
    var hosts = CircuitBreaker()
    let passes = (0..<5).map { _ in hosts.begin(at: site) }
    #expect(hosts.ended(passes[0], .pause(.seconds(2)), at: second(0))?.until == second(2))
    #expect(hosts.ended(passes[1], .pause(.seconds(2)), at: second(0.5))?.until == second(2.5))
    #expect(hosts.ended(passes[2], .pause(.seconds(1)), at: second(1)) == nil)
    #expect(hosts.ended(passes[3], .responded, at: second(1)) == nil)
    #expect(hosts.ended(passes[4], broken, at: second(1)) == nil)
    guard case .open(let hold) = hosts.state(of: site, at: second(1)) else {
      Issue.record("not held")
      return
    }
    #expect(hold.until == second(2.5))
  }

  @Test func aPauseOfNoNamedLengthGrows() {
    var hosts = CircuitBreaker()
    var now = 0.0
    for length in [1.0, 2, 4] {
      #expect(run(&hosts, [.pause(now == 0 ? nil : .zero)], at: now).first??.until == second(now + length))
      now += length
      _ = hosts.state(of: site, at: second(now))
    }
  }

  @Test func aPauseThatNobodyWouldBelieveIsADay() {
    var hosts = CircuitBreaker()
    #expect(run(&hosts, [.pause(.seconds(1 << 31))]).first??.until == second(86_400))
    #expect(
      hosts.adopt(.init(until: second(1e7), cause: .requested, strikes: 1), of: "http://a:80", at: second(0)) == nil)
  }

  @Test func whatAnotherProcessKnowsCountsWhereItIsLonger() {
    var hosts = CircuitBreaker()
    let hold = CircuitBreaker.Hold(until: second(3), cause: .requested, strikes: 1)
    #expect(hosts.adopt(hold, of: site, at: second(0)) == hold)
    #expect(hosts.state(of: site, at: second(1)) == .open(hold))
    #expect(hosts.adopt(.init(until: second(2), cause: .requested, strikes: 1), of: site, at: second(1)) == nil)
    #expect(hosts.adopt(hold, of: site, at: second(4)) == nil)
    #expect(hosts.state(of: site, at: second(4)) == .halfOpen)
  }

  @Test func pausesThatOverlapCountOnceInAllThatIsWaited() {
    var allowance = WaitBudget(.seconds(10))
    let waits = [(0.0, 4.0), (1, 6), (2, 12), (20, 24), (30, 31)]
    let taken = waits.map { allowance.take(until: second($1), from: second($0)) }
    #expect(taken == [true, true, false, true, false])
    var none = WaitBudget(.zero)
    #expect(none.take(until: second(0), from: second(0)) == false)
  }
}
