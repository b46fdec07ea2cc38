@testable import HTTPTransport

/// Which deadline has passed, without a clock. Times are seconds since the transfer's start.
@Suite struct TransferDeadlinesTests {
  private struct Check: Equatable {
    let next: Duration
    let missed: DownloadError.Deadline?

    init(_ next: Double, _ missed: DownloadError.Deadline?) {
      self.next = .seconds(next)
      self.missed = missed
    }

    init(_ deadlines: TransferDeadlines, after seconds: Double, connecting: Duration? = .seconds(1)) {
      var deadlines = deadlines
      let check = deadlines.check(now: start + .seconds(seconds), connecting: connecting)
      (next, missed) = (check.next - start, check.missed)
    }
  }

  private static let start = ContinuousClock().systemEpoch

  /// 10 s to connect, 20 s of silence, 300 s in all; something came at these times.
  private func deadlines(arrivals: [Double] = []) -> TransferDeadlines {
    var configuration = DownloadConfiguration()
    (configuration.connectTimeout, configuration.stallTimeout) = (.seconds(10), .seconds(20))
    configuration.minimumRate = 0
    var deadlines = TransferDeadlines(configuration, timeLeft: .seconds(300), start: Self.start)
    for second in arrivals { deadlines.recordArrival(at: Self.start + .seconds(second)) }
    return deadlines
  }

  @Test func silenceCountsFromWhenTheRequestCouldBeSent() {
    let silent = deadlines()
    #expect(Check(silent, after: 20.5) == Check(21, nil))
    #expect(Check(silent, after: 21) == Check(21, .stall))
  }

  @Test func slowButSteadyIsNoStall() {
    var arrivals: [Double] = []
    for second in stride(from: 2.0, to: 280, by: 19) {
      #expect(Check(deadlines(arrivals: arrivals), after: second).missed == nil)
      arrivals.append(second)
      #expect(Check(deadlines(arrivals: arrivals), after: second + 19.5).missed == nil)
    }
  }

  @Test func silenceInTheBodyIsAStall() {
    let stalled = deadlines(arrivals: [3, 50])
    #expect(Check(stalled, after: 60) == Check(70, nil))
    #expect(Check(stalled, after: 70) == Check(70, .stall))
  }

  @Test func waitingForAConnectionToShareIsTimedOutAsConnecting() {
    let waiting = deadlines()
    #expect(Check(waiting, after: 29, connecting: nil) == Check(30, nil))
    #expect(Check(waiting, after: 30, connecting: nil) == Check(30, .connect))
  }

  /// 1000 bytes a second over 20 s are wanted; so many come each second, from the first on.
  private func firstMiss(_ bytesASecond: (Int) -> Int, mayBeSlow: Bool = false) -> (Int, DownloadError.Deadline)? {
    var configuration = DownloadConfiguration()
    configuration.minimumRate = 1000
    var deadlines = TransferDeadlines(configuration, timeLeft: .seconds(300), start: Self.start)
    for second in 1...120 {
      let now = Self.start + .seconds(second)
      let check = deadlines.check(now: now, connecting: .zero, mayBeSlow: mayBeSlow)
      if let missed = check.missed { return (second, missed) }
      deadlines.recordArrival(bytesASecond(second), at: now)
    }
    return nil
  }

  @Test func aServerThatDripsIsTooSlowAfterTwentySeconds() throws {
    let (second, missed) = try #require(firstMiss { _ in 10 })
    #expect(second == 21 && missed == .rate)
    #expect(firstMiss { _ in 1100 } == nil)
    // On average: what comes in bursts is no drip.
    #expect(firstMiss { $0 % 10 == 1 ? 12_000 : 1 } == nil)
    // What has been quick once may not drip for ever.
    #expect(firstMiss { $0 < 15 ? 1 << 20 : 10 }?.0 == 41)
  }

  @Test func whatMayBeSlowIsNot() {
    #expect(firstMiss({ _ in 10 }, mayBeSlow: true) == nil)
  }

  @Test func theTotalGoesBeforeAllOthers() {
    let late = deadlines(arrivals: [290])
    #expect(Check(late, after: 295) == Check(300, nil))
    #expect(Check(late, after: 300) == Check(300, .total))
    #expect(Check(late, after: 400, connecting: nil).missed == .total)
  }
}

/// When a transfer is silent, without a clock. Times are seconds since the transfer's start.
@Suite struct TransferSilenceTests {
  private static let start = ContinuousClock().systemEpoch
  private var silence = TransferDeadlines(DownloadConfiguration(), timeLeft: .seconds(300), start: start)

  /// When to look again, with a timeout of a second.
  private mutating func check(at seconds: Double, timeout: Double = 1) -> Double? {
    silence.checkSilence(now: Self.start + .seconds(seconds), shortest: .milliseconds(100)) { .seconds(timeout) }
      .map { ($0 - Self.start) / .seconds(1) }
  }

  private mutating func something(at seconds: Double) -> TransferDeadlines.Arrival {
    silence.recordArrival(at: Self.start + .seconds(seconds))
  }

  @Test mutating func countsFromTheStartAndFromEachArrival() {
    #expect(check(at: 0) == 0.1)
    #expect(check(at: 0.1) == 1)
    #expect(something(at: 0.5) == .init(responseTime: .seconds(0.5), endsSilence: false))
    #expect(check(at: 1.2) == 1.5)
    #expect(!silence.isSilent)
    #expect(check(at: 1.5) == nil)
    #expect(silence.isSilent && silence.silentSince == Self.start + .seconds(0.5))
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
