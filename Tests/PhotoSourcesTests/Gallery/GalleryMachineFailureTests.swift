@testable import PhotoSources

@Suite struct GalleryMachineFailureTests {
  private static let passing: [ProviderError] = [
    .unreachable(provider: "test", reason: "no network"), .rateLimited(provider: "test", retryAfter: nil),
    .malformed(provider: "test", snippet: "<html>"), .cancelled,
  ]
  private static let lasting: [ProviderError] = [
    .unauthorized(provider: "test"), .badRequest(provider: "test", reason: "spam"),
    .blocked(provider: "test", reason: "403"), .notFound(provider: "test"), .folderMissing(path: "/a"),
    .notAFolder(path: "/a"), .folderUnreadable(path: "/a", reason: "EIO"), .listUnreadable(path: "/a", reason: "EIO"),
    .unsupported(provider: "test", reason: "no"), .unknownProvider("x"),
    .keyMissing(provider: "test", variable: "KEY", page: "p"), .invalidAddress("x"),
  ]

  @Test(arguments: passing + lasting) func everyErrorIsTold(_ error: ProviderError) {
    var driver = GalleryMachineDriver { $0.hasStore = false }
    driver.search("lake")
    driver.fail(error)
    #expect(driver.state == .failed(error) && driver.ids.isEmpty)
    #expect(driver.state.message == error.message)
  }

  @Test(arguments: passing + lasting) func whatWasThereStaysAndAskingAgainGoesOn(_ error: ProviderError) {
    var driver = GalleryMachineDriver { $0.hasStore = false }
    driver.search("lake", answered: 0..<10, next: "2")
    driver.show(9)
    driver.fail(error)
    #expect(driver.state == .failed(error) && driver.ids == ids(0..<10))
    driver.send(.retry)
    #expect(driver.state == .loadingNextPage)
    #expect(driver.asked.last == .page(PhotoQuery("lake", pageSize: 10), PageCursor("2")))
    driver.answer(10..<20)
    #expect(driver.state == .loaded && driver.ids == ids(0..<20))
  }

  @Test(arguments: passing) func whatMayPassIsAskedForAgainAfterAPause(_ error: ProviderError) {
    var driver = GalleryMachineDriver { $0.hasStore = false }
    driver.search("lake", answered: 0..<10, next: "2")
    driver.show(9)
    // Each failure doubles the pause, up to a minute.
    for pause in [1, 2, 4, 8, 16, 32, 60, 60] {
      let asked = driver.asked.count
      driver.fail(error)
      driver.now += .seconds(pause) - .milliseconds(1)
      driver.show(9)
      #expect(driver.asked.count == asked)
      driver.now += .milliseconds(1)
      #expect(driver.machine.wakeTime == driver.now)
      driver.send(.awake)
      #expect(driver.asked.count == asked + 1)
    }
    driver.answer(10..<20, next: "3")
    driver.show(19)
    driver.fail(error)
    driver.show(19, after: .seconds(1))
    #expect(driver.live != nil)
  }

  @Test func aPauseThatTheSourceAsksForIsKept() {
    var driver = GalleryMachineDriver()
    driver.search("lake", answered: 0..<10, next: "2")
    driver.show(9)
    driver.fail(.rateLimited(provider: "test", retryAfter: .seconds(300)))
    driver.show(9, after: .seconds(299))
    #expect(driver.running.isEmpty)
    driver.show(9, after: .seconds(1))
    #expect(driver.live != nil)
  }

  @Test(arguments: lasting) func whatDoesNotPassIsNotAskedForAgainUnlessSomebodySaysSo(_ error: ProviderError) {
    var driver = GalleryMachineDriver()
    driver.search("lake")
    driver.fail(error)
    driver.show(0, after: .seconds(1_000))
    driver.send(.next)
    #expect(driver.asked.count == 1 && driver.state == .failed(error))
    driver.search("lake")
    #expect(driver.asked.count == 2)
    driver.fail(error)
    driver.search("sea")
    #expect(driver.state == .loading)
  }
}
