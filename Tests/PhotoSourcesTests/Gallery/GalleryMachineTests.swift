@testable import PhotoSources

@Suite struct GalleryMachineTests {
  private var driver = GalleryMachineDriver()

  private func page(_ cursor: String?, of text: String = "lake") -> GalleryFetch {
    .page(PhotoQuery(text, pageSize: 10), cursor.map { PageCursor($0) })
  }

  @Test mutating func nothingIsAskedForBeforeTheFirstSearch() {
    driver.show(3)
    driver.send(.next)
    driver.send(.refresh)
    driver.send(.retry)
    #expect(driver.asked.isEmpty && driver.state == .idle)
    #expect(!driver.machine.content.hasMore)
  }

  @Test mutating func aSearchLoadsItsFirstPage() {
    driver.search("  mountain \n lake ")
    #expect(driver.asked == [page(nil, of: "mountain lake")] && driver.state == .loading)
    driver.answer(0..<10, next: "2", total: 25)
    #expect(driver.state == .loaded && driver.ids == ids(0..<10) && driver.machine.content.total == 25)
    #expect(driver.asked.count == 1 && driver.machine.content.hasMore)
  }

  @Test mutating func theNextPageIsAskedForOnce() {
    driver.search("lake", answered: 0..<10, next: "2")
    driver.show(3)
    #expect(driver.asked.count == 1)
    for index in 4..<10 { driver.show(index) }
    driver.send(.next)
    driver.send(.retry)
    #expect(driver.asked == [page(nil), page("2")] && driver.state == .loadingNextPage)
    driver.answer(10..<20)
    #expect(driver.ids == ids(0..<20) && driver.state == .loaded && !driver.machine.content.hasMore)
    driver.show(19)
    driver.send(.next)
    #expect(driver.asked.count == 2)
  }

  @Test mutating func aLateAnswerToAnOlderSearchIsNotHeard() {
    driver.search("lake")
    let ticket = driver.machine.liveTicket ?? 0
    driver.search("sea")
    #expect(driver.running.count == 1)
    driver.send(
      .response(.live(.success(PhotoPage(photos: [GalleryMachineDriver.photo(1)], next: nil))), ticket: ticket))
    #expect(driver.state == .loading && driver.ids.isEmpty)
    driver.answer(7..<9)
    driver.send(.response(.live(.failure(.notFound(provider: "test"))), ticket: ticket))
    #expect(driver.ids == ["7", "8"] && driver.state == .loaded)
  }

  @Test mutating func theSameWordsAreNotSearchedForAgain() {
    driver.search("lake")
    driver.search(" lake", answered: 0..<10)
    driver.search("lake ")
    #expect(driver.asked.count == 1)
  }

  @Test mutating func oneOfTheLastSixInViewAsksForTheNextPage() {
    driver.search("lake", answered: 0..<10, next: "2")
    for index in [Int.min, -1, 3] { driver.show(index) }
    #expect(driver.asked.count == 1)
    driver.show(4)
    #expect(driver.asked.count == 2)
    driver.answer(10..<20, next: "3")
    #expect(driver.asked.count == 2)
    driver.show(.max)
    #expect(driver.asked.count == 3)
  }

  @Test mutating func aShortPageIsFollowedByTheNextWhileTheEndIsInView() {
    driver.search("lake", answered: [0, 1], next: "2")
    driver.show(1)
    driver.answer([2, 3], next: "3")
    #expect(driver.asked.count == 3 && driver.state == .loadingNextPage)
  }

  @Test mutating func asManyPhotosAreLoadedAsAreWanted() {
    driver.search("lake", answered: 0..<10, next: "2")
    driver.send(.wanted(items: 25))
    driver.answer(10..<20, next: "3")
    driver.answer(20..<30, next: "4")
    #expect(driver.state == .loaded && driver.asked.count == 3)
    driver.send(.wanted(items: 30))
    #expect(driver.running.isEmpty)
    driver.send(.wanted(items: 31))
    #expect(driver.state == .loadingNextPage)
    driver.search("sea", answered: 0..<10, next: "2")
    #expect(driver.running.isEmpty)
  }

  @Test mutating func nothingFoundIsAStateWithAMessage() {
    driver.search("xyzzy", answered: [], total: 0)
    #expect(driver.state == .empty(message: "test has no picture for “xyzzy”; try other words"))
    driver.show(0)
    #expect(driver.asked.count == 1)
  }

  @Test mutating func pagesWithoutNewPhotosEnd() {
    driver.search("lake", answered: 0..<10, next: "2")
    driver.show(9)
    for cursor in 3...5 { driver.answer(0..<10, next: "\(cursor)") }
    #expect(driver.running.isEmpty && driver.state == .loaded && !driver.machine.content.hasMore)
    #expect(driver.asked.count == 4)
  }

  @Test mutating func withoutWordsPhotosArePickedByChance() {
    driver = GalleryMachineDriver { $0.picksRandom = true }
    driver.search("")
    #expect(driver.asked == [.random(count: 10)])
    driver.answer(0..<10)
    #expect(driver.machine.content.hasMore)
    driver.show(9)
    driver.answer(5..<15)
    #expect(driver.ids == ids(0..<15))
    driver.search("lake")
    #expect(driver.asked.last == page(nil))
  }

  @Test mutating func withoutWordsAndChanceTheListingIsShown() {
    driver.search("")
    #expect(driver.asked == [page(nil, of: "")])
  }

  @Test mutating func aRefreshKeepsWhatIsThereUntilItsPageComes() {
    driver.search("lake", answered: 0..<10, next: "2")
    driver.show(9)
    driver.send(.refresh)
    #expect(driver.ids == ids(0..<10) && driver.state == .loading && driver.running.count == 1)
    driver.answer(5..<10, next: "2")
    #expect(driver.ids == ids(5..<10))
  }

  @Test mutating func aRefreshThatFailsLeavesWhatIsThere() {
    driver.search("lake", answered: 0..<10, next: "2")
    driver.send(.refresh)
    driver.fail(.blocked(provider: "test", reason: "no"))
    #expect(driver.ids == ids(0..<10) && driver.state == .failed(.blocked(provider: "test", reason: "no")))
    driver.send(.retry)
    #expect(driver.asked.last == page("2"))
  }

  @Test mutating func aDeletedPhotoIsGoneForGood() {
    driver.search("lake", answered: 0..<10, next: "2")
    driver.send(.delete(GalleryMachineDriver.id(3)))
    driver.send(.delete(GalleryMachineDriver.id(3)))
    driver.send(.delete(GalleryMachineDriver.id(77)))
    #expect(driver.removed == ["3"] && !driver.ids.contains("3"))
    driver.show(8)
    driver.answer([3, 10])
    #expect(!driver.ids.contains("3") && driver.ids.last == "10")
    driver.send(.refresh)
    driver.send(.delete(GalleryMachineDriver.id(1)))
    #expect(!driver.ids.contains("1"))
    driver.answer(0..<10)
    #expect(driver.ids == ids([0, 2, 4, 5, 6, 7, 8, 9]))
  }

  @Test mutating func pagesOfDeletedPhotosAreNoCircle() {
    driver.search("lake", answered: 0..<10, next: "2")
    for number in 0..<10 { driver.send(.delete(GalleryMachineDriver.id(number))) }
    driver.answer([10])
    driver.send(.refresh)
    for number in 0..<10 { driver.answer([number], next: "\(number + 2)") }
    driver.answer([10])
    #expect(driver.ids == ["10"])
  }

  @Test mutating func deletingTheLastPhotoLoadsMore() {
    driver.search("lake", answered: [1], next: "2")
    driver.send(.delete(GalleryMachineDriver.id(1)))
    #expect(driver.asked.last == page("2") && driver.state == .loading)
    driver.answer([1])
    #expect(driver.state == .empty(message: "test has no picture for “lake”; try other words"))
  }
}
