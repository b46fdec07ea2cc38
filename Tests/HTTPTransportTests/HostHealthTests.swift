@testable import HTTPTransport

/// What is concluded about a host from the ends of its transfers, without a clock. Times are seconds.
@Suite struct HostHealthTests {
  private static let start = ContinuousClock().systemEpoch
  private static let broken = TransferOutcome.failed(reason: "refused")

  private static func second(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }
  private static func ticket(_ number: Int) -> DownloadTicket { DownloadTicket(number: UInt64(number)) }

  /// A host with the policy's defaults, whose images are numbers.
  private struct Host {
    var health: HostHealth
    private var running: [Int: HostHealth.Beginning] = [:]

    init(patience: Double = 60) {
      var policy = HostHealth.Policy()
      policy.patience = .seconds(patience)
      health = HostHealth(policy, now: start)
    }

    mutating func adopt(_ hold: HostHealth.Hold, at seconds: Double) -> Bool {
      health.adopt(hold, at: second(seconds))
    }

    mutating func begin(_ image: Int, at seconds: Double = 0) {
      running[image] = health.begin(ticket(image), at: second(seconds))
    }

    @discardableResult
    mutating func end(
      _ image: Int, _ outcome: TransferOutcome, at seconds: Double = 0, isProbe: Bool = false, failures: Int = 0
    ) -> HostHealth.Change? {
      running.removeValue(forKey: image).map {
        health.ended(ticket(image), since: $0, outcome, failures: failures, isProbe: isProbe, at: second(seconds))
      }
    }

    /// One transfer after the other.
    @discardableResult
    mutating func run(_ images: [Int], _ outcome: TransferOutcome, at seconds: Double = 0) -> HostHealth.Change? {
      images.map { image in
        begin(image, at: seconds)
        return end(image, outcome, at: seconds)
      }.last ?? nil
    }

    /// The end of the hold, and a microsecond.
    var until: Double? { health.hold.map { ($0.until - start) / .seconds(1) + 1e-6 } }
  }

  @Test func threeDifferentImagesWithoutAnAnswerHoldAHostAndOneImageNeverDoes() {
    var host = Host()
    host.run([1, 1, 1, 1, 1, 2, 2, 2], Self.broken)
    #expect(host.health.hold == nil)
    host.run([3], Self.broken)
    #expect(host.health.hold?.cause == .failures(reason: "refused"))
    #expect(host.until.map { abs($0 - 0.025) < 1e-3 } == true)
  }

  @Test func anAnswerBetweenFailuresMeansThatTheHostIsUp() {
    var host = Host()
    for image in 0..<20 {
      host.run([3 * image, 3 * image + 1], Self.broken, at: Double(image))
      host.run([3 * image + 2], .responded, at: Double(image) + 0.1)
    }
    #expect(host.health.hold == nil)
  }

  @Test func aFailureIsTheImagesOwnIfALaterTransferHadAnAnswer() {
    var host = Host()
    for image in 1...5 { host.begin(image, at: 0) }
    host.begin(6, at: 0.1)
    host.end(6, .responded, at: 1)
    for image in 1...5 { #expect(host.end(image, Self.broken, at: 1.1) == HostHealth.Change.none) }
    #expect(host.health.hold == nil)
  }

  @Test func theAnswersOfTransfersFromBeforeAnOutageDoNotEndIt() {
    var host = Host()
    host.begin(9, at: 0)
    host.run([1, 2, 3], Self.broken, at: 1)
    #expect(host.end(9, .responded, at: 1.5) == HostHealth.Change.none)
    #expect(host.health.hold != nil)
    // But they are progress.
    #expect(host.health.givesUp == Self.second(61.5))
  }

  @Test func pausesBetweenTrialsDoubleToTheLongestAndAnAnswerEndsThem() {
    var host = Host(patience: 3600)
    host.run([1, 2, 3], Self.broken)
    var now = 0.025
    for pause in [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 60, 60] {
      #expect(!host.health.isTrialDue(at: Self.second(now - 0.002)))
      now += 1e-6
      #expect(host.health.isTrialDue(at: Self.second(now)))
      host.begin(4, at: now)
      #expect(!host.health.isTrialDue(at: Self.second(now)), "one trial at a time")
      host.end(4, Self.broken, at: now)
      now += pause
      #expect(host.until.map { abs($0 - now) < 1e-3 } == true)
    }
    host.begin(5, at: now + 1)
    // The images that failed long ago may have met an outage; the last trial pays for itself.
    #expect(host.end(5, .responded, at: now + 1) == .up(toBlame: []))
    #expect(host.health.hold == nil)
  }

  @Test(arguments: [(answers: 11, pause: 0.8), (12, 0.025)])
  func anOutageAfterTwelveAnswersInARowBeginsWithTheShortestPause(answers: Int, pause: Double) throws {
    var host = Host(patience: 3600)
    host.run([1, 2, 3], Self.broken)
    for _ in 0..<4 { host.run([4], Self.broken, at: try #require(host.until)) }
    host.run(Array(5..<5 + answers), .responded, at: try #require(host.until))
    #expect(host.health.hold == nil && host.health.isDoubtful == (answers < 12))
    host.run([30, 31, 32], Self.broken, at: 100)
    #expect(host.until.map { abs($0 - 100 - pause) < 1e-3 } == true)
  }

  @Test func whatFailedJustBeforeAHostAnswersIsToBlame() {
    var host = Host()
    host.run([1, 2, 3], Self.broken)
    host.begin(4, at: 0.1)
    guard case .up(let toBlame)? = host.end(4, .responded, at: 0.15) else {
      Issue.record("not up")
      return
    }
    #expect(Set(toBlame) == Set((1...3).map(Self.ticket)))
  }

  @Test func whereAllHaveFailedEveryOtherTrialIsAnImageThatHasCome() {
    var host = Host()
    host.health.hasGoodImage = true
    host.run([1, 1, 1], Self.broken)
    #expect(host.health.hold != nil, "three attempts, as it can be probed")
    #expect(!host.health.prefersProbe(allHaveFailed: true, at: Self.second(0)))
    host.run([1], Self.broken, at: 1)
    #expect(host.health.prefersProbe(allHaveFailed: true, at: Self.second(1)))
    #expect(!host.health.prefersProbe(allHaveFailed: false, at: Self.second(1)))
  }

  /// Those that ask for pauses may be the broken ones of a host that is up.
  @Test func afterABelievedPauseAnImageThatHasComeIsTriedOnceHalfThePatienceIsOver() {
    var host = Host(patience: 20)
    host.health.hasGoodImage = true
    var (time, early, late) = (0.0, 0, 0)
    for image in 1...14 {
      if host.health.prefersProbe(allHaveFailed: true, at: Self.second(time)) { time < 10 ? (early += 1) : (late += 1) }
      host.run([image], .pause(.seconds(1)), at: time)
      time = host.until ?? time
    }
    // Once before the pause was believed; then every other one.
    #expect((1...2).contains(early) && late >= 1)
  }

  @Test func aHostThatSendsWhatFailedBeforeIsFickleAndIsBelievedAfterOneTrial() {
    var host = Host()
    host.begin(1)
    #expect(host.end(1, .responded, failures: 3) == HostHealth.Change.none)
    #expect(host.health.isFickle(at: Self.second(59)) && !host.health.isFickle(at: Self.second(61)))
    #expect(host.health.furtherAttempts(at: Self.second(59)) == 8)
    host.run([2], .pause(.seconds(5)), at: 1)
    host.run([3], .pause(.seconds(5)), at: 1.1)
    #expect(host.until.map { abs($0 - 6.1) < 1e-3 } == true)
  }

  @Test func oneImagesPauseIsItsOwnOnceANeighbourPasses() {
    var host = Host()
    host.run([1], .pause(.seconds(3600)))
    #expect(host.run([2], .responded, at: host.until ?? 0) == .up(toBlame: [Self.ticket(1)]))
    // Others have just passed, so the next wishes are matters of their own images at first.
    host.run([3, 4], .pause(.seconds(3600)), at: 0.2)
    #expect(host.health.hold == nil)
  }

  @Test func aLongPauseIsBelievedAfterSixTrialsAndEndsTheWaitAtOnce() {
    var host = Host()
    host.run([0], .pause(.seconds(3600)))
    for image in 1...5 { host.run([image], .pause(.seconds(3600)), at: host.until ?? 0) }
    #expect(host.until.map { $0 < 5 } == true)
    let now = host.until ?? 0
    host.run([6], .pause(.seconds(3600)), at: now)
    #expect(host.until.map { $0 > 3600 } == true)
    #expect(host.health.isOverdue(at: Self.second(now + 0.1)))
  }

  @Test func aBelievedPauseWithoutALengthGrowsFromASecond() {
    var host = Host()
    for image in 1...4 { host.run([image], .pause(image == 2 ? .zero : nil), at: host.until ?? 0) }
    var before = host.until ?? 0
    #expect(before > 1 && before < 1.5)
    for pause in [2.0, 4] {
      host.run([5], .pause(nil), at: before)
      #expect(host.until.map { abs($0 - before - pause) < 1e-3 } == true)
      before = host.until ?? 0
    }
  }

  @Test func aPauseThatNobodyWouldBelieveIsADay() {
    var host = Host()
    for image in 1...7 { host.run([image], .pause(.seconds(1 << 31)), at: host.until ?? 0) }
    #expect(host.until.map { $0 > 86_400 && $0 < 86_410 } == true)
    #expect(host.adopt(.init(until: Self.second(1e7), cause: .requested, strikes: 1), at: 0) == false)
  }

  @Test func patienceEndsAfterALastTrialAndThenOneImageTriesTheHostNowAndThen() {
    var host = Host()
    #expect(host.health.givesUp == nil)
    host.run([1, 2, 3], Self.broken)
    var now = 0.0
    while now < 60 {
      #expect(!host.health.isOverdue(at: Self.second(now)))
      now = host.until ?? .infinity
      host.run([4], Self.broken, at: now)
    }
    #expect(host.health.isOverdue(at: Self.second(now + 0.01)))
    #expect(host.health.isOverdue(at: Self.second(300)), "the last trial was late enough")
    host.health.giveUp(at: Self.second(now))
    #expect(host.health.isOverdue(at: Self.second(now + 50)))
    #expect(!host.health.isOverdue(at: Self.second(now + 61)), "a trial is due")
    host.run([11], Self.broken, at: now + 61)
    #expect(host.health.isOverdue(at: Self.second(now + 100)))
    host.run([12], .responded, at: now + 130)
    #expect(host.health.hold == nil && host.health.givesUp == nil)
  }

  @Test func aTrialThatSaysNothingLetsAnotherGo() {
    var host = Host()
    host.run([1, 2, 3], Self.broken)
    host.begin(4, at: 1)
    #expect(host.end(4, .inconclusive, at: 2) == HostHealth.Change.none)
    #expect(host.health.isTrialDue(at: Self.second(2)))
  }

  @Test func trialsThatSayNothingEndThePatienceLikeAllOthers() {
    var host = Host()
    host.run([1, 2, 3], Self.broken)
    for second in 1...70 {
      host.begin(4, at: Double(second))
      host.end(4, .inconclusive, at: Double(second) + 0.9)
    }
    // Eight seconds of the wait passed with nothing to try the host.
    #expect(host.health.isOverdue(at: Self.second(71)))
  }

  @Test func aPauseOfTheWholeHostIsBelievedAfterThreeTrialsThatGotIt() {
    var host = Host()
    var now = 0.0
    host.run([1], .pause(.seconds(50)))
    for image in 2...4 {
      #expect(host.until.map { $0 - now < 1 } == true, "not believed before trial \(image)")
      now = host.until ?? now
      host.run([image], .pause(.seconds(50)), at: now)
    }
    #expect(host.until.map { abs($0 - now - 50) < 1e-3 } == true)
    #expect(host.health.hold?.cause == .requested)
  }

  @Test func aFailedTrialBetweenWishesStartsTheirCountAgain() {
    var host = Host()
    for (image, outcome) in [
      (1, TransferOutcome.pause(.seconds(50))), (2, .pause(.seconds(50))), (3, Self.broken),
      (4, .pause(.seconds(50))), (5, .pause(.seconds(50))),
    ] {
      host.run([image], outcome, at: host.until ?? 0)
    }
    #expect(host.until.map { $0 < 2 } == true)
  }

  @Test func whatRanWhenABelievedPauseBeganOnlyLengthensIt() {
    var host = Host()
    for image in 11...13 { host.begin(image) }
    for image in 1...4 { host.run([image], .pause(.seconds(10)), at: host.until ?? 0) }
    let until = host.until ?? 0
    host.end(11, .pause(.seconds(1)), at: until - 9)
    host.end(12, Self.broken, at: until - 9)
    #expect(host.until == until)
    host.end(13, .pause(.seconds(20)), at: until - 9)
    #expect(host.until.map { $0 > until } == true)
  }

  @Test func aHostThatHasJustAnsweredIsHeldAfterManyFailuresAlone() {
    var host = Host()
    host.run([0], .responded)
    host.run(Array(1...15), Self.broken, at: 0.2)
    #expect(host.health.hold == nil)
    host.run([16], Self.broken, at: 0.2)
    #expect(host.health.hold != nil)
  }

  @Test(arguments: [
    (DownloadError.noResponse(reason: "reset"), TransferOutcome.failed(reason: "reset")),
    (.brokenOff(received: 0, expected: nil), .failed(reason: "the connection broke off")),
    (.unreachable(reason: "refused"), .unreachable(reason: "refused")),
    (.timedOut(.connect), .unreachable(reason: "no connection in time")),
    (.httpStatus(404, retryAfter: nil), .inconclusive), (.tooLarge(limit: 1, announced: nil), .responded),
  ])
  func onlyAConnectionThatWasNotMadeIsNoPicturesOwn(error: DownloadError, outcome: TransferOutcome) {
    #expect(TransferOutcome(.failure(error), purpose: .image) == outcome)
  }

  /// As in a server, whose clients ask for whatever they like.
  @Test func whatDoesNotWaitIsNotRefusedForOthersFailuresOfAHostThatResponds() {
    var health = HostHealth(HostHealth.Policy(), now: Self.start)
    func end(_ image: Int, _ outcome: TransferOutcome, at seconds: Double, lasting: Double = 0) {
      let beginning = health.begin(Self.ticket(image), at: Self.second(seconds))
      _ = health.ended(Self.ticket(image), since: beginning, outcome, at: Self.second(seconds + lasting))
    }
    let gone = TransferOutcome.unreachable(reason: "refused")
    for image in 1...40 { end(image, Self.broken, at: 0) }
    for image in 1...23 { end(image, .pause(.seconds(3600)), at: 1) }
    #expect(health.hold == nil, "no image has come yet, but it responds")
    end(0, .responded, at: 2)
    for image in 1...30 { end(image, image.isMultiple(of: 2) ? gone : .pause(.seconds(3600)), at: 6.9) }
    #expect(health.hold == nil)
    var many = health
    let beginning = many.begin(Self.ticket(31), at: Self.second(6.9))
    _ = many.ended(Self.ticket(31), since: beginning, gone, at: Self.second(6.9))
    #expect(many.hold != nil, "sixteen that make others wait, with no response between them")
    end(41, gone, at: 7.1)
    #expect(health.hold != nil)
    end(42, Self.broken, at: 8)
    #expect(health.hold == nil, "it responds again")
    for image in 1...3 { end(image, Self.broken, at: 14, lasting: 2) }
    #expect(health.hold != nil, "others wait for slow failures")
  }

  @Test func whatAnotherProcessKnowsCountsWhereItIsLongerAndNothingBetterIsKnown() {
    var host = Host()
    let hold = HostHealth.Hold(until: Self.second(3), cause: .failures(reason: "refused"), strikes: 2)
    #expect(host.adopt(hold, at: 0) == true)
    #expect(host.health.hold == hold)
    #expect(host.adopt(.init(until: Self.second(2), cause: .requested, strikes: 1), at: 1) == false)
    #expect(host.health.isTrialDue(at: Self.second(3)))
    host.run([1], .responded, at: 3)
    let later = HostHealth.Hold(until: Self.second(9), cause: .failures(reason: "refused"), strikes: 2)
    #expect(host.adopt(later, at: 3.5) == false, "it has just answered")
    #expect(host.adopt(later, at: 10) == false, "it is over")
  }

  @Test func aNumberOfPausesThatNobodyCountsToHarmsNothing() {
    var host = Host()
    #expect(host.adopt(.init(until: Self.second(3), cause: .requested, strikes: .max), at: 0) == true)
    host.run([1], Self.broken, at: 4)
    #expect(host.until.map { abs($0 - 64) < 1e-3 } == true)
  }

}

@Suite struct WaitBudgetTests {
  @Test func pausesThatOverlapCountOnceInAllThatIsWaited() {
    let start = ContinuousClock().systemEpoch
    func second(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }
    var allowance = WaitBudget(.seconds(10))
    let waits = [(0.0, 4.0), (1, 6), (2, 12), (20, 24), (30, 31)]
    let taken = waits.map { allowance.take(until: second($1), from: second($0)) }
    #expect(taken == [true, true, false, true, false])
    var none = WaitBudget(.zero)
    #expect(none.take(until: second(0), from: second(0)) == false)
  }
}
