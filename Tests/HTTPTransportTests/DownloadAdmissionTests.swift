@testable import HTTPTransport
@testable import ThumbnailCore

/// Who goes next, without a socket.
@Suite(.timeLimit(.minutes(5))) struct DownloadAdmissionTests {
  private typealias Admission = NamedAdmission

  @Test func goesFirstComeFirstServedWithinALevel() {
    var admission = Admission(maximum: 9, maximumPerSite: 9)
    for name in ["a", "b", "c"] { _ = admission.enqueue(name, site: "s", at: .prefetch) }
    _ = admission.enqueue("d", site: "t", at: .prefetch)
    _ = admission.enqueue("v", site: "t", at: .visible)
    #expect(admission.admitAll() == ["v", "a", "b", "c", "d"])
  }

  @Test func whatComesToAHeldHostWaitsWithoutCounting() {
    let now = ContinuousClock().systemEpoch
    var policy = HostHealth.Policy()
    policy.patience = .seconds(60)
    var admission = DownloadAdmission<String>(maximum: 9, maximumPerSite: 9, health: policy)
    admission.adopt(.init(until: now + .seconds(50), cause: .requested, strikes: 1), of: "s", now: now)
    var parked: [String] = []
    // Twice: between them nothing waits there.
    for name in ["a", "b"] {
      let ticket = admission.nextTicket()
      admission.enqueue(name, ticket, site: "s", at: .prefetch, now: now)
      while let step = admission.nextStep(at: now) {
        if case .park(let name) = step { parked.append(name) }
      }
      #expect(admission.remove(ticket) == name)
    }
    #expect(parked == ["a", "b"])
  }

  /// Where nobody waits for hosts, a quick failure means that the host responds.
  @Test func aSilentTrialDoesNotMeanThatItsHostResponds() throws {
    let now = ContinuousClock().systemEpoch
    var admission = DownloadAdmission<String>(maximum: 9, maximumPerSite: 9)
    admission.adopt(
      .init(until: now + .milliseconds(1), cause: .failures(reason: "silent"), strikes: 1), of: "s", now: now)
    let trial = admission.nextTicket()
    admission.enqueue("a", trial, site: "s", at: .visible, patient: false, now: now)
    while admission.nextStep(at: now + .seconds(1)) != nil {}
    #expect(admission.runs[trial] != nil)
    admission.fellSilent(trial, since: now + .seconds(1), now: now + .milliseconds(1100))
    #expect(admission.heldSites == ["s"])
  }

  @Test func keepsBothLimits() {
    var admission = Admission(maximum: 3, maximumPerSite: 2)
    for name in ["a1", "a2", "a3"] { _ = admission.enqueue(name, site: "a", at: .visible) }
    for name in ["b1", "b2"] { _ = admission.enqueue(name, site: "b", at: .visible) }
    #expect(admission.admitAll() == ["a1", "a2", "b1"])
    admission.release("b1")
    #expect(admission.admitAll() == ["b2"])
    admission.release("a1")
    #expect(admission.admitAll() == ["a3"])
    #expect(admission.running == 3)
    #expect(admission.waiting == 0)
  }

  @Test func aSiteMayWantLessAtOnce() {
    var admission = Admission(maximum: 9, maximumPerSite: 6)
    for name in ["a1", "a2", "a3"] { _ = admission.enqueue(name, site: "a", at: .visible, limit: 2) }
    _ = admission.enqueue("a4", site: "a", at: .visible, limit: 5)
    _ = admission.enqueue("b1", site: "b", at: .visible)
    #expect(admission.admitAll() == ["a1", "a2", "b1"])
    admission.release("a1")
    #expect(admission.admitAll() == ["a3"])
    for name in ["a2", "a3"] { admission.release(name) }
    #expect(admission.admitAll() == ["a4"])
    // A site where nothing runs or waits is any site.
    admission.release("a4")
    for name in ["a5", "a6", "a7"] { _ = admission.enqueue(name, site: "a", at: .visible) }
    #expect(admission.admitAll() == ["a5", "a6", "a7"])
  }

  @Test func prefetchGetsItsTurnHoweverBusyItIs() {
    var admission = Admission(maximum: 1, maximumPerSite: 1)
    _ = admission.enqueue("p", site: "s", at: .prefetch)
    var admitted: [String] = []
    for number in 0..<12 {
      _ = admission.enqueue("v\(number)", site: "t", at: .visible)
      guard let next = admission.admitNext() else { continue }
      admitted.append(next)
      admission.release(next)
    }
    #expect(admitted.firstIndex(of: "p") == 8)
  }

  @Test func movesWhatWaitsBetweenTheLevels() {
    var admission = Admission(maximum: 9, maximumPerSite: 9)
    _ = admission.enqueue("a", site: "s", at: .visible)
    let b = admission.enqueue("b", site: "s", at: .prefetch)
    let c = admission.enqueue("c", site: "s", at: .visible)
    admission.move(b, to: .visible)
    admission.move(c, to: .prefetch)
    #expect(admission.admitAll() == ["a", "b", "c"])
    admission.move(b, to: .prefetch)
    #expect(admission.running == 3)
  }

  @Test func whoeverComesBackKeepsItsAge() {
    var admission = Admission(maximum: 1, maximumPerSite: 1)
    let first = admission.enqueue("first", site: "s", at: .prefetch)
    #expect(admission.admitNext() == "first")
    for name in ["second", "third"] { _ = admission.enqueue(name, site: "s", at: .prefetch) }
    _ = admission.enqueue("again", site: "t", at: .prefetch, returning: first)
    admission.release("first")
    #expect(admission.admitAll() == ["again"])
    admission.release("again")
    #expect(admission.admitAll() == ["second"])
  }

  @Test func removedBeforeItsTurnItIsGone() {
    var admission = Admission(maximum: 1, maximumPerSite: 1)
    let a = admission.enqueue("a", site: "s", at: .visible)
    let b = admission.enqueue("b", site: "s", at: .visible)
    #expect(admission.remove(a) == "a")
    #expect(admission.remove(a) == nil)
    #expect(admission.admitAll() == ["b"])
    #expect(admission.remove(b) == nil)
  }

  @Test func startingOneTakesNoLongerForAllThatWaitBehindIt() {
    // To copy the line of a site for each that starts would take longer than the suite may.
    var admission = Admission(maximum: 16, maximumPerSite: 6)
    for number in 0..<100_000 {
      _ = admission.enqueue("\(number)", site: "one", at: number % 2 == 0 ? .visible : .prefetch)
    }
    for number in 0..<20 { _ = admission.enqueue("other\(number)", site: "\(number)", at: .prefetch) }
    var count = 0
    while true {
      let admitted = admission.admitAll()
      if admitted.isEmpty { break }
      count += admitted.count
      for name in admitted { admission.release(name) }
    }
    #expect(count == 100_020)
  }
}
