@testable import PhotoSources

@Suite struct GalleryMachineOfflineTests {
  private var driver = GalleryMachineDriver()

  private let gone = ProviderError.unreachable(provider: "test", reason: "no network")

  @Test mutating func aKnownSearchIsServedFromTheStorePageByPage() {
    driver.searchOffline("lake")
    #expect(driver.stored == .stored(PhotoQuery("lake", pageSize: 10), nil) && driver.state == .loading)
    driver.answerStored(0..<10, next: "2")
    #expect(driver.state == .offline(gone) && driver.machine.content.isOffline && driver.ids == ids(0..<10))
    driver.show(9)
    #expect(driver.stored == .stored(PhotoQuery("lake", pageSize: 10), PageCursor("2")))
    // The source is left alone for a second.
    #expect(driver.live == nil)
    driver.answerStored(10..<20, next: "3")
    driver.show(19)
    driver.missStored()
    #expect(driver.state == .offline(gone) && driver.ids == ids(0..<20))
    driver.show(19)
    #expect(driver.running.isEmpty)
  }

  @Test mutating func backOnlineTheSearchGoesOnBehindItsLastPage() {
    driver.searchOffline("lake")
    driver.answerStored(0..<10, next: "2")
    driver.show(9, after: .seconds(1))
    #expect(driver.live == .page(PhotoQuery("lake", pageSize: 10), PageCursor("2")))
    driver.answer(10..<20, next: "3")
    #expect(driver.state == .loaded && !driver.machine.content.isOffline && driver.ids == ids(0..<20))
    #expect(driver.stored == nil)
    driver.show(19)
    #expect(driver.live == .page(PhotoQuery("lake", pageSize: 10), PageCursor("3")))
  }

  @Test mutating func aSearchStoredInOtherPortionsGoesOnInThose() {
    driver.searchOffline("lake")
    driver.answerStored(0..<30, next: "2", pageSize: 30)
    driver.now += .seconds(1)
    driver.send(.next)
    #expect(driver.live == .page(PhotoQuery("lake", pageSize: 30), PageCursor("2")))
  }

  @Test mutating func theNetworkGoesInTheMiddleAndComesBack() {
    driver.search("lake", answered: 0..<10, next: "2")
    driver.show(9)
    driver.lose()
    driver.missStored()
    #expect(driver.state == .offline(gone) && driver.ids == ids(0..<10))
    driver.show(9, after: .seconds(1))
    driver.lose()
    #expect(driver.ids == ids(0..<10))
    driver.send(.retry)
    driver.answer(10..<20)
    #expect(driver.state == .loaded && driver.ids == ids(0..<20))
  }

  @Test mutating func whenTheStoreIsQuickerThanTheSourceNothingIsLost() {
    driver.searchOffline("lake")
    driver.answerStored(0..<10, next: "2")
    driver.show(9, after: .seconds(1))
    driver.answerStored(10..<20, next: "3")
    driver.answer(10..<20, next: "3")
    #expect(driver.ids == ids(0..<20) && driver.machine.content.hasMore)
    driver.show(19)
    #expect(driver.live == .page(PhotoQuery("lake", pageSize: 10), PageCursor("3")))
  }

  @Test mutating func anUnknownSearchShowsAllCachedPicturesAgainAndAgain() {
    driver.searchOffline("sea")
    driver.missStored()
    #expect(driver.stored == .cached(after: nil, count: 10))
    driver.answerCached(0..<10, next: 5)
    driver.show(4)
    driver.answerCached(10..<15)
    #expect(driver.state == .offline(gone) && driver.machine.content.hasMore)
    for round in 1...3 {
      driver.show(driver.ids.count - 1)
      #expect(driver.stored == .cached(after: nil, count: 10))
      driver.answerCached(0..<10, next: 5)
      driver.show(driver.ids.count - 1)
      driver.answerCached(10..<15)
      #expect(driver.machine.content.items.last?.round == round)
    }
    #expect(driver.ids == ids(Array(0..<15) + Array(0..<15) + Array(0..<15) + Array(0..<15)))
    #expect(Set(driver.machine.content.items.map(\.id)).count == 60)
    #expect(Set(driver.machine.content.items.map(\.id.description)).count == 60)
  }

  @Test mutating func theRealPhotosReplaceThoseThatStandIn() {
    driver.searchOffline("sea")
    driver.missStored()
    driver.answerCached(0..<5)
    driver.send(.retry)
    #expect(driver.live == .page(PhotoQuery("sea", pageSize: 10), nil))
    driver.answer(3..<8, next: "2")
    #expect(driver.ids == ids(3..<8) && driver.state == .loaded)
  }

  @Test mutating func withoutWordsAllCachedPicturesFollowThoseThatAreThere() {
    driver = GalleryMachineDriver { $0.picksRandom = true }
    driver.search("", answered: 0..<10)
    driver.show(9)
    driver.lose()
    #expect(driver.stored == .cached(after: nil, count: 10))
    driver.answerCached([9, 10, 11])
    #expect(driver.ids == ids(0..<12))
    driver.show(11, after: .seconds(1))
    #expect(driver.live == .random(count: 10))
    driver.answer(12..<14)
    #expect(driver.ids == ids(0..<14) && !driver.machine.content.isOffline)
  }

  @Test mutating func cachedPicturesThatAreAllThereComeAgainInTheNextRound() {
    driver = GalleryMachineDriver { $0.picksRandom = true }
    driver.search("", answered: 0..<3)
    driver.show(2)
    driver.lose()
    driver.answerCached(0..<3)
    driver.answerCached(0..<3)
    #expect(driver.ids == ids([0, 1, 2, 0, 1, 2]) && driver.machine.content.isOffline)
  }

  @Test mutating func withNothingStoredTheErrorIsTold() {
    driver.searchOffline("lake")
    driver.missStored()
    driver.answerCached([])
    #expect(driver.state == .failed(gone) && driver.machine.content.isOffline && driver.running.isEmpty)
    // A failure without a network is not held against the search (the next try asks at once).
    driver.send(.retry)
    #expect(driver.live != nil)
    driver.answer(0..<10)
    #expect(driver.state == .loaded)
  }

  @Test mutating func theRoundsGoOnAfterTheSourceWasAskedAgain() {
    driver.searchOffline("sea")
    driver.missStored()
    driver.answerCached(0..<2)
    for _ in 1...2 {
      driver.show(driver.ids.count - 1)
      driver.answerCached(0..<2)
    }
    driver.send(.refresh)
    driver.lose()
    // All of this round is there, so that the next one begins.
    driver.show(5)
    driver.answerCached(0..<2)
    driver.answerCached(0..<2)
    #expect(driver.machine.content.items.map(\.round) == [0, 0, 1, 1, 2, 2, 3, 3] && driver.machine.content.hasMore)
    // A gateway answers instead of the source, which does not mean that there is a network.
    driver.send(.retry)
    driver.fail(.malformed(provider: "test", snippet: "<html>"))
    driver.send(.retry)
    driver.lose()
    driver.show(7)
    driver.answerCached(0..<2)
    driver.answerCached(0..<2)
    #expect(driver.machine.content.items.last?.round == 4)
  }

  @Test mutating func aStoredEndIsNoEndForTheSource() {
    driver.searchOffline("lake")
    driver.answerStored(0..<10, next: "2")
    driver.show(9, after: .seconds(1))
    driver.answerStored(10..<13)
    #expect(!driver.machine.content.hasMore)
    driver.answer(10..<20, next: "3", total: 25)
    #expect(driver.ids == ids(0..<20) && driver.machine.content.hasMore && driver.machine.content.total == 25)
    driver.show(19)
    #expect(driver.live == .page(PhotoQuery("lake", pageSize: 10), PageCursor("3")))
  }

  @Test mutating func aSearchThatFoundNothingOnceIsAskedForAgain() {
    driver.searchOffline("sea")
    driver.answerStored([])
    #expect(driver.stored == .cached(after: nil, count: 10))
    driver.answerCached([])
    #expect(driver.state == .failed(gone) && driver.machine.wakeTime == .seconds(1))
    driver.awake(after: .seconds(1))
    driver.answer([7])
    #expect(driver.ids == ["7"] && driver.state == .loaded)
  }

  @Test mutating func aBadKeyIsNoReasonToGoOffline() {
    driver.search("lake")
    driver.fail(.unauthorized(provider: "test"))
    #expect(driver.running.isEmpty && !driver.machine.content.isOffline)
    #expect(driver.state == .failed(.unauthorized(provider: "test")))
  }

  @Test mutating func aSourceThatAnswersWithAnErrorEndsTheOfflineState() {
    driver.searchOffline("lake")
    driver.answerStored(0..<10, next: "2")
    driver.send(.retry)
    driver.fail(.unauthorized(provider: "test"))
    #expect(!driver.machine.content.isOffline && driver.ids == ids(0..<10))
  }

  @Test mutating func deletedPhotosDoNotComeBackInLaterRounds() {
    driver.searchOffline("sea")
    driver.missStored()
    driver.answerCached(0..<3)
    driver.send(.delete(GalleryMachineDriver.id(1)))
    driver.show(1)
    driver.answerCached(0..<3)
    #expect(driver.ids == ids([0, 2, 0, 2]))
    driver.send(.delete(GalleryMachineDriver.id(0, round: 1)))
    #expect(driver.ids == ids([2, 2]) && driver.removed == ["1", "0"])
  }

  @Test mutating func aSearchThatIsWhollyStoredCanBeAskedForAgain() {
    driver.searchOffline("lake")
    driver.answerStored(0..<10)
    #expect(driver.state == .offline(gone) && !driver.machine.content.hasMore)
    driver.send(.retry)
    #expect(driver.live == .page(PhotoQuery("lake", pageSize: 10), nil) && driver.ids.count == 10)
    driver.answer(0..<12)
    #expect(driver.ids == ids(0..<12) && driver.state == .loaded)
  }

  @Test func aSourceIsRetriedWhileOfflineWhereThatIsWanted() {
    for retries in [false, true] {
      var driver = GalleryMachineDriver { $0.retriesWhileOffline = retries }
      driver.searchOffline("lake")
      driver.answerStored(0..<10, next: "2")
      #expect(driver.state == .offline(gone) && driver.live == nil)
      #expect((driver.machine.wakeTime == .seconds(1)) == retries)
      driver.awake(after: .seconds(1))
      #expect((driver.live == .page(PhotoQuery("lake", pageSize: 10), PageCursor("2"))) == retries)
      // Stored photos are not loaded without need.
      #expect(driver.stored == nil)
      guard retries else { continue }
      // The pause doubles.
      driver.lose()
      #expect(driver.machine.wakeTime == .seconds(3) && driver.ids == ids(0..<10))
      driver.send(.awake)
      #expect(driver.live == nil)
      driver.now = .seconds(3)
      driver.send(.awake)
      #expect(driver.stored == nil)
      driver.answer(10..<20)
      #expect(driver.state == .loaded && driver.machine.wakeTime == nil && driver.ids == ids(0..<20))
    }
  }

  @Test func aSourceWhoseStoredPhotosHaveEndedIsRetriedFromItsFirstPage() {
    var driver = GalleryMachineDriver { $0.retriesWhileOffline = true }
    driver.searchOffline("lake")
    driver.answerStored(0..<10)
    #expect(driver.state == .offline(gone) && driver.machine.wakeTime == .seconds(1))
    driver.awake(after: .seconds(1))
    #expect(driver.live == .page(PhotoQuery("lake", pageSize: 10), nil) && driver.ids == ids(0..<10))
    driver.lose()
    #expect(driver.state == .offline(gone) && driver.ids == ids(0..<10) && driver.machine.wakeTime == .seconds(3))
    driver.awake(after: .seconds(2))
    driver.answer(5..<15)
    #expect(driver.state == .loaded && driver.ids == ids(5..<15))
  }
}
