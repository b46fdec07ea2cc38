@testable import HTTPTransport

struct HostCacheLifetimeTests {
  private let start = ContinuousClock().systemEpoch

  /// What it is after so many transfers, one every `interval`.
  private func seconds(after transfers: Int, every interval: Duration, of hosts: Int = .max) -> Int {
    var lifetime = HostCacheLifetime(start: start)
    for number in 0..<transfers { lifetime.use("host\(number % hosts)", at: start + interval * number) }
    return lifetime.seconds
  }

  @Test func fewHostsAreKeptForAMinute() {
    #expect(seconds(after: 0, every: .zero) == 60)
    #expect(seconds(after: 1000, every: .milliseconds(1)) == 60)
    #expect(seconds(after: 1_000_000, every: .milliseconds(1), of: 999) == 60)
    #expect(seconds(after: 10_000, every: .milliseconds(60)) == 60)
  }

  @Test func manyHostsAreKeptAsLongAsAThousandTake() {
    #expect(seconds(after: 1001, every: .milliseconds(10)) == 10)
    #expect(seconds(after: 10_000, every: .milliseconds(2)) == 2)
    #expect(seconds(after: 10_000, every: .microseconds(1)) == 1)
  }

  @Test func oneCrowdedSecondIsForgottenAfterAMinute() {
    var lifetime = HostCacheLifetime(start: start)
    for number in 0..<1001 { lifetime.use("host\(number)", at: start + .milliseconds(number)) }
    #expect(lifetime.seconds == 1)
    lifetime.use("a", at: start + .seconds(62))
    #expect(lifetime.seconds == 60)
  }
}
