@testable import HTTPTransport
@testable import ThumbnailCore

/// What becomes of the slots of silent transfers, without a socket or a clock.
@Suite(.timeLimit(.minutes(5))) struct SlotLendingTests {
  private typealias Admission = NamedAdmission

  /// 16 slots, 6 at a site, and pictures `0` and up that wait at one.
  private func admission(waiting count: Int, site: String = "s") -> Admission {
    var admission = Admission(maximum: 16, maximumPerSite: 6)
    for number in 0..<count { _ = admission.enqueue("\(number)", site: site, at: .prefetch) }
    return admission
  }

  @Test func aSilentTransferLendsItsSlotToTheNext() {
    var admission = admission(waiting: 8)
    #expect(admission.admitAll() == ["0", "1", "2", "3", "4", "5"])
    admission.fellSilent("2")
    #expect(admission.admitAll() == ["6"])
    #expect((admission.running, admission.lent) == (6, 1))
    // Its end frees nothing but itself.
    admission.release("2")
    #expect(admission.admitAll() == [])
    admission.release("6")
    #expect(admission.admitAll() == ["7"])
  }

  @Test func whatGoesOnAfterItsSlotWasLentCountsAgain() {
    var admission = admission(waiting: 9)
    _ = admission.admitAll()
    admission.fellSilent("0")
    #expect(admission.admitAll() == ["6"])
    admission.resumed("0")
    #expect((admission.running, admission.lent) == (7, 0))
    // Nobody new starts before there are fewer than six.
    admission.release("6")
    #expect(admission.admitAll() == [])
    admission.release("0")
    #expect(admission.admitAll() == ["7"])
  }

  @Test func twentySilentOnesInARowGiveWay() {
    var admission = admission(waiting: 30)
    var started = admission.admitAll()
    var silent = 0
    while silent < 20, silent < started.count {
      admission.fellSilent("\(silent)")
      silent += 1
      started += admission.admitAll()
    }
    // The first that answers, and what follows from that.
    #expect(started.count == 22)
    admission.answered("20", after: 0.01)
    admission.release("20")
    #expect(admission.admitAll() == ["22", "23", "24", "25", "26"])
    #expect((admission.running, admission.lent) == (6, 20))
  }

  @Test func aSiteThatAnswersNobodyGivesUpFewSlots() {
    var admission = admission(waiting: 100)
    while true {
      let started = admission.admitAll(at: 30)
      if started.isEmpty { break }
      for name in started { admission.fellSilent(name) }
    }
    #expect((admission.running, admission.lent) == (6, 16))
    // It does answer: the others may go on.
    admission.answered("0", after: 5)
    admission.resumed("0")
    #expect(!admission.admitAll(at: 30).isEmpty)
  }

  @Test func noMoreThanTheLimitAreLentHoweverManyAreSilent() {
    var admission = admission(waiting: 200)
    var most = 0
    var putOff = 0
    for round in 0..<60 {
      let second = Double(round) * 2
      for name in admission.admitAll(at: second) {
        if name.hasPrefix("[") {
          putOff += 1
          let name = String(name.dropFirst().dropLast())
          admission.release(name)
          _ = admission.enqueue("again \(name)", site: "s", at: .prefetch, deferred: true)
        } else {
          // Half of them answer at once, so the site is well.
          if Int(name)?.isMultiple(of: 2) == true {
            admission.answered(name, after: 0.01)
            admission.release(name)
          } else {
            admission.fellSilent(name, since: second)
          }
        }
        most = max(most, admission.running + admission.lent)
      }
    }
    #expect(most <= 38)
    #expect(putOff > 20)
  }

  @Test func theOldestMakesRoomOnceItsSiteHasAnsweredOthers() {
    var policy = SilencePolicy()
    policy.maximumLent = 2
    var admission = Admission(maximum: 16, maximumPerSite: 6, policy: policy)
    for number in 0..<12 { _ = admission.enqueue("\(number)", site: "s", at: .prefetch) }
    _ = admission.admitAll()
    for name in ["3", "1"] { admission.fellSilent(name, since: 0) }
    #expect(admission.admitAll(at: 1) == ["6", "7"])
    admission.fellSilent("0", since: 1)
    // Nobody was answered since.
    #expect(admission.admitAll(at: 2) == [])
    admission.answered("6", after: 0.2)
    // Late for a second, whatever the others take.
    #expect(admission.admitAll(at: 0.9) == [])
    // Nothing else may happen until then.
    #expect(admission.wake(after: 0.9) == 1)
    #expect(admission.admitAll(at: 1) == ["[3]"])
    // One is enough for the one that waits to lend its slot.
    #expect(admission.admitAll(at: 3) == [])
    admission.release("3")
    #expect(admission.admitAll(at: 3) == ["8"])
    #expect((admission.running, admission.lent) == (6, 2))
  }

  @Test func whatWasPutOffComesAfterAllOthersOfItsLevel() {
    var admission = Admission(maximum: 1, maximumPerSite: 1)
    let first = admission.enqueue("first", site: "s", at: .prefetch)
    #expect(admission.admitNext() == "first")
    admission.release("first")
    _ = admission.enqueue("first again", site: "s", at: .prefetch, returning: first, deferred: true)
    _ = admission.enqueue("visible", site: "t", at: .visible, deferred: true)
    for name in ["a", "b"] { _ = admission.enqueue(name, site: "s", at: .prefetch) }
    _ = admission.enqueue("c", site: "t", at: .visible)
    var order: [String] = []
    while let name = admission.next() {
      order.append(name)
      admission.release(name)
    }
    #expect(order == ["c", "visible", "a", "b", "first again"])
  }

  @Test func nothingIsPutOffForWhatWasPutOffItself() {
    var policy = SilencePolicy()
    policy.maximumLent = 1
    var admission = Admission(maximum: 16, maximumPerSite: 6, policy: policy)
    for number in 0..<8 { _ = admission.enqueue("\(number)", site: "s", at: .prefetch, deferred: true) }
    _ = admission.admitAll()
    for number in 0..<6 { admission.fellSilent("\(number)", since: 0) }
    #expect(admission.admitAll(at: 9) == ["6"])
    admission.answered("6", after: 0.1)
    #expect(admission.admitAll(at: 9) == [])
    #expect(admission.waiting == 1)
  }

  @Test(arguments: [(16, 6, 2), (16, 2, nil), (4, 6, nil)] as [(Int, Int, Int?)])
  func whereSomebodyWantsFewerNothingIsLentButTheSilentOneMakesRoom(all: Int, perSite: Int, limit: Int?) {
    let most = [all, perSite, limit ?? .max].min() ?? 0
    var admission = Admission(maximum: all, maximumPerSite: perSite)
    for number in 0..<8 { _ = admission.enqueue("\(number)", site: "s", at: .prefetch, limit: limit) }
    #expect(admission.admitAll().count == most)
    #expect(admission.silenceTimeout(for: "0") == .seconds(5))
    admission.fellSilent("0")
    #expect(admission.admitAll(at: 5) == ["[0]"])
    #expect((admission.running, admission.lent) == (most, 0))
    admission.release("0")
    #expect(admission.admitAll(at: 5) == ["\(most)"])
  }

  @Test func aSilentOneWithNobodyBehindItKeepsItsSlot() {
    var admission = Admission(maximum: 16, maximumPerSite: 2)
    _ = admission.enqueue("0", site: "s", at: .prefetch)
    _ = admission.admitAll()
    admission.fellSilent("0")
    #expect(admission.admitAll(at: 90) == [])
    for name in ["1", "2"] { _ = admission.enqueue(name, site: "s", at: .prefetch) }
    #expect(admission.admitAll(at: 90) == ["1", "[0]"])
  }

  @Test func theSlotInAllIsLentToAnotherSite() {
    var admission = Admission(maximum: 6, maximumPerSite: 6)
    for number in 0..<6 { _ = admission.enqueue("\(number)", site: "s", at: .prefetch) }
    _ = admission.enqueue("other", site: "t", at: .prefetch)
    #expect(admission.admitAll().count == 6)
    admission.fellSilent("4")
    #expect(admission.admitAll() == ["other"])
  }

  @Test func theSilenceTimeoutIsASecondUntilStragglersAreKnown() {
    var admission = admission(waiting: 9)
    _ = admission.admitAll()
    #expect(admission.silenceTimeout(for: "0") == .seconds(1))
    admission.fellSilent("5")
    #expect(admission.silenceTimeout(for: "0") == .milliseconds(100))
    // A site whose answers take long is given that time, and never more than a second.
    admission.answered("0", after: 0.2)
    #expect(admission.silenceTimeout(for: "1").map { abs($0 / .milliseconds(1) - 600) < 1 } == true)
    admission.answered("1", after: 4)
    #expect(admission.silenceTimeout(for: "2") == .seconds(1))
    admission.release("5")
    #expect(admission.silenceTimeout(for: "2") == .seconds(1))
  }

  @Test func theFirstSilenceIsNoticedSoonerWhereAnswersAreFast() {
    var admission = admission(waiting: 9)
    _ = admission.admitAll()
    admission.answered("0", after: 0.05)
    #expect(admission.silenceTimeout(for: "1").map { abs($0 / .milliseconds(1) - 600) < 1 } == true)
    admission.answered("1", after: 0.5)
    #expect(admission.silenceTimeout(for: "2") == .seconds(1))
  }

  @Test func steadyResponseTimesLeaveAShortTimeout() {
    var times = ResponseTimes()
    #expect(times.bound == nil)
    for _ in 0..<100 { times.add(.milliseconds(50)) }
    #expect(times.bound.map { $0 < .milliseconds(51) } == true)
    // Now and then one of half a second: not late any more.
    for number in 0..<40 { times.add(.milliseconds(number.isMultiple(of: 4) ? 500 : 50)) }
    #expect(times.bound.map { $0 > .milliseconds(500) } == true)
  }
}
