import Testing

@testable import HTTPTransport
@testable import TestSupport
@testable import TransportTestSupport

/// When a transfer is silent, without a clock. Times are seconds since the transfer's start.
@Suite struct SilenceDetectorTests {
  private static let start = ContinuousClock.now
  private var silence = SilenceDetector(start: start)

  /// When to look again, with a timeout of a second.
  private mutating func check(at seconds: Double, timeout: Double = 1) -> Double? {
    silence.check(now: Self.start + .seconds(seconds), shortest: .milliseconds(100)) { .seconds(timeout) }
      .map { ($0 - Self.start) / .seconds(1) }
  }

  private mutating func something(at seconds: Double) -> SilenceDetector.Arrival {
    silence.recordArrival(at: Self.start + .seconds(seconds))
  }

  @Test mutating func countsFromTheStartAndFromEachArrival() {
    #expect(check(at: 0) == 0.1)
    #expect(check(at: 0.1) == 1)
    #expect(something(at: 0.5) == .init(responseTime: .seconds(0.5), endsSilence: false))
    #expect(check(at: 1.2) == 1.5)
    #expect(!silence.isSilent)
    #expect(check(at: 1.5) == nil)
    #expect(silence.isSilent && silence.since == Self.start + .seconds(0.5))
  }

  @Test mutating func anArrivalEndsTheSilenceAndOnlyTheFirstIsTheAnswer() {
    #expect(check(at: 2) == nil)
    #expect(something(at: 3) == .init(responseTime: .seconds(3), endsSilence: true))
    #expect(something(at: 3.1) == .init(responseTime: nil, endsSilence: false))
    #expect(check(at: 4.2) == nil)
    #expect(something(at: 9) == .init(responseTime: nil, endsSilence: true))
  }

  @Test mutating func isNeverSilentBeforeTheShortestTimeout() {
    #expect(check(at: 0.09, timeout: 0) == 0.1)
    #expect(check(at: 0.1, timeout: 0) == nil)
  }
}
