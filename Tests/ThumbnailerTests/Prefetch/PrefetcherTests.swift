@testable import PipelineTestSupport
@testable import ThumbnailCache
@testable import Thumbnailer

/// SCENARIOS, prefetch, 30 to 45, against a real pipeline and origin. Rows 0 to 3 are in view at first, 4 to 7 ahead.
@Suite(.timeLimit(.minutes(5))) struct PrefetcherTests {
  private static func pictureHeld(by gate: Gate, _ isHeld: @escaping @Sendable (String) -> Bool) throws
    -> @Sendable (OriginRequest) -> OriginResponse
  {
    return { isHeld($0.path) ? .picture.held(by: gate) : .picture }
  }

  @Test func stoppingDropsEverythingAndTheNextViewBeginsAnew() async throws {
    let gate = Gate()
    let fixture = try PrefetcherFixture(answer: Self.pictureHeld(by: gate) { _ in true })
    fixture.show(row: 0)
    await poll { fixture.origin.runningRequests == 4 }
    fixture.prefetcher.stop()
    await poll { fixture.pipeline.activeJobs == 0 && fixture.origin.runningRequests == 0 }
    #expect(fixture.origin.requests.allSatisfy { $0.outcome == .clientClosed })
    gate.open()
    await fixture.settle(row: 0)
    await poll { Set(fixture.ready.map(\.index)) == Set(0..<8) }
  }

  @Test func theWorkEndsWithItsOwner() async throws {
    let fixture = try PipelineFixture { _ in .ok([UInt8](repeating: 0, count: 9_999)).stalling(after: 100) }
    var prefetcher: Prefetcher? = try PrefetcherFixture.prefetcher(on: fixture)
    prefetcher?.setItems((0..<9).map { ImageSource(fixture.origin.url("/\($0)")) })
    prefetcher?.setViewport(Viewport(offset: 0, height: 400))
    await poll { fixture.origin.runningRequests == 4 }
    prefetcher = nil
    await poll { fixture.pipeline.activeJobs == 0 && fixture.origin.runningRequests == 0 }
  }

  @Test func aPrefetchIsPromotedWhenItsCellComesIntoView() async throws {
    let gate = Gate()
    let fixture = try PrefetcherFixture(
      configuring: { $0.downloads = 1 }, options: { $0.maximumPrefetches = 4 },
      answer: Self.pictureHeld(by: gate) { $0 == "/blocker" })
    fixture.prefetcher.pause()
    await fixture.settle(row: 0)
    let blocker = await fixture.block(until: gate)
    fixture.prefetcher.resume()
    await poll { fixture.pipeline.waitingDownloads == 4 }
    // Others that were there before, on the level of prefetches.
    let others = Task { () -> [Result<ThumbnailResponse, ThumbnailError>] in
      await fixture.pipeline.responses(
        for: fixture.source(99), variants: [fixture.prefetcher.variant], priority: .prefetch)
    }
    await poll { fixture.pipeline.waitingDownloads == 5 }
    fixture.show(row: 1)
    gate.open()
    _ = try await blocker.value
    _ = await others.value
    await fixture.prefetcher.waitUntilSettled()
    // The cells of the row are promoted one after another, while downloads begin.
    #expect(paths(4..<6).contains(fixture.paths[5]))
    #expect(fixture.origin.requests(for: "/4").count == 1)
  }

  @Test func aMovingWindowKeepsItsOverlapAndDropsWhatIsLeftBehind() async throws {
    let gate = Gate()
    let fixture = try PrefetcherFixture(answer: Self.pictureHeld(by: gate) { _ in true })
    fixture.show(row: 0)
    await poll { fixture.origin.requests.count == 4 }
    fixture.show(row: 2)
    await poll { fixture.origin.requests.count == 6 }
    fixture.show(row: 30)
    // Nobody waits for those any more, long before they have come.
    await poll { (0..<6).allSatisfy { fixture.pipeline.receivedPart(of: fixture.source($0)) == nil } }
    await poll { fixture.origin.requests.count == 10 && fixture.origin.runningRequests == 4 }
    gate.open()
    await fixture.prefetcher.waitUntilSettled()
    await poll { Set(fixture.cancelled) == Set(0..<6) }
    let asked = Set(fixture.paths)
    #expect(asked.count == fixture.paths.count)
    #expect(asked == Set(paths(Array(0..<6) + Array(28..<38))))
  }

  @Test func aViewportWaitsForNoPlanAndIsInViewAtOnce() async throws {
    let fixture = try PrefetcherFixture()
    // Whoever plans or changes the list holds the lock; this would never return if the call needed it.
    fixture.prefetcher.state.withLock { _ in
      for row in 0..<100 { fixture.show(row: row) }
    }
    #expect(fixture.prefetcher.visibleItems == 99..<100)
    fixture.show(row: 20)
    #expect(fixture.prefetcher.visibleItems == 20..<24)
    await fixture.prefetcher.waitUntilSettled()
    #expect(Set(paths(20..<28)).isSubset(of: fixture.paths))
    #expect((20..<28).allSatisfy { fixture.prefetcher.cachedThumbnail(at: $0) != nil })
  }

  @Test func eventsTellOfThingsInTheirOrder() async throws {
    let fixture = try PrefetcherFixture(configuring: { $0.memoryCacheLimit = ByteSize(bytes: 0) })
    for row in stride(from: 0, through: 64, by: 8) {
      fixture.show(row: row)
      await poll { fixture.started.contains(row) }
    }
    fixture.prefetcher.stop()
    await fixture.settle(row: 90)
    await poll {
      guard case .settled? = fixture.events.values.last else { return false }
      return Set(fixture.ready.map(\.index)).isSuperset(of: 90..<94)
    }
    var begun: Set<Int> = []
    var dropped: Set<Int> = []
    for event in fixture.events.values {
      switch event {
      case .started(let index, _, _): #expect(begun.insert(index).inserted, "item \(index) was begun twice")
      case .cancelled(let index, _):
        #expect(begun.remove(index) != nil, "item \(index) was dropped before it began")
        dropped.insert(index)
      case .ready(let index, _, _), .failed(let index, _, _):
        // What is dropped may be there all the same, if that came too late.
        #expect(begun.remove(index) != nil || dropped.contains(index), "item \(index) ended before it began")
      case .settled: break
      }
    }
    #expect(begun.isEmpty)
  }

  @Test func anEmptyListSettlesAtOnce() async throws {
    let fixture = try PrefetcherFixture(items: 0)
    await fixture.settle(row: 0)
    await poll { fixture.events.values.contains { if case .settled = $0 { true } else { false } } }
    #expect(fixture.origin.requests.isEmpty)
  }

  @Test func whenAllFailItSettlesAndEachSaysWhy() async throws {
    let fixture = try PrefetcherFixture(answer: { _ in .status(404) })
    await fixture.settle(row: 0)
    await poll { fixture.failed.count == 8 }
    #expect(Set(fixture.failed.map(\.index)) == Set(0..<8))
    #expect(fixture.failed.allSatisfy { $0.error.code == "not-found" })
    await #expect(throws: ThumbnailError.self) { try await fixture.prefetcher.thumbnail(at: 0) }
  }

  @Test func thousandsOfCachedItemsLeaveNoTrace() async throws {
    let fixture = try PrefetcherFixture(items: 0)
    _ = try await fixture.pipeline.thumbnail(for: fixture.request(0))
    fixture.prefetcher.setItems(Array(repeating: fixture.source(0), count: 10_000))
    for row in stride(from: 0, to: 10_000, by: 2) { fixture.show(row: row) }
    await fixture.prefetcher.waitUntilSettled()
    let (prefetchTasks, remembered) = fixture.prefetcher.state.withLock {
      ($0.prefetchTasks.count, $0.schedule.rememberedItems)
    }
    #expect(prefetchTasks == 0)
    #expect(remembered <= 20)
    #expect(fixture.origin.requests.count == 1)
  }

  @Test func stoppingThePrefetcherLeavesACellsOwnRequestAlone() async throws {
    let gate = Gate()
    let fixture = try PrefetcherFixture(answer: Self.pictureHeld(by: gate) { _ in true })
    fixture.show(row: 0)
    await poll { fixture.origin.requests.count == 4 }
    let cell = Task { try await fixture.prefetcher.thumbnail(at: 1) as Thumbnail }
    await poll { fixture.pipeline.statistics.joins == 1 }
    fixture.prefetcher.stop()
    await poll { fixture.pipeline.activeJobs == 1 }
    gate.open()
    #expect(try await cell.value.size == PixelSize(40, 40))
    #expect(fixture.origin.requests(for: "/1").map(\.outcome) == [.served])
  }

  @Test func theByteBudgetStopsTheLookAhead() async throws {
    let length = try TestImages.bytes("formats/jpeg-420.jpg").count
    let fixture = try PrefetcherFixture(
      isPatient: false,
      options: {
        $0.screensAhead = 10
        $0.byteBudget = ByteSize(bytes: 6 * length)
      })
    await fixture.settle(row: 0)
    #expect(fixture.paths.sorted { $0.count == $1.count ? $0 < $1 : $0.count < $1.count } == paths(0..<10))
  }
}
