@testable import PipelineTestSupport

/// Lists that change, and what the prefetcher asks of them.
@Suite(.timeLimit(.minutes(5))) struct PrefetcherListTests {
  @Test func moreItemsAreWantedBeforeTheViewReachesTheEnd() async throws {
    let fixture = try PrefetcherFixture(items: 0)
    var wanted = fixture.prefetcher.itemsWanted.makeAsyncIterator()
    fixture.show(row: 0)
    #expect(await wanted.next() == 16)
    fixture.prefetcher.append(contentsOf: fixture.sources(10))
    #expect(await wanted.next() == 16)
    fixture.prefetcher.append(contentsOf: (10..<30).map { fixture.source($0) })
    fixture.show(row: 10)
    fixture.show(row: 20)
    #expect(await wanted.next() == 36)
  }

  @Test func urlsOfTheWebAndOfFilesAreItems() async throws {
    let fixture = try PrefetcherFixture(items: 0)
    fixture.show(row: 0)
    fixture.prefetcher.setItems(urls: [fixture.source(0).url, nil, TestImages.url("formats/jpeg-420.jpg")])
    await fixture.prefetcher.waitUntilSettled()
    #expect(fixture.paths == ["/0"] && fixture.prefetcher.cachedThumbnail(at: 0) != nil)
    #expect(fixture.prefetcher.cachedThumbnail(at: 1) == nil && fixture.prefetcher.cachedThumbnail(at: 2) != nil)
  }

  @Test func appendedItemsThatAreInTheWindowAreFetched() async throws {
    let fixture = try PrefetcherFixture(items: 2)
    await fixture.settle(row: 0)
    fixture.prefetcher.append(contentsOf: (2..<5).map { fixture.source($0) })
    await fixture.prefetcher.waitUntilSettled()
    #expect(fixture.paths.sorted() == paths(0..<5))
    #expect(fixture.prefetcher.itemCount == 5)
  }

  @Test func otherItemsTakeThePlaceOfTheOldOnes() async throws {
    let gate = Gate()
    let fixture = try PrefetcherFixture(
      items: 4, answer: { ["/0", "/1"].contains($0.path) ? .picture.held(by: gate) : .picture })
    fixture.show(row: 0)
    await poll { fixture.origin.requests.count == 4 }
    fixture.prefetcher.setItems([0, 11, 2].map { fixture.source($0) })
    await poll { fixture.origin.requests(for: "/1").first?.outcome == .clientClosed }
    gate.open()
    await fixture.prefetcher.waitUntilSettled()
    #expect(fixture.paths.sorted() == ["/0", "/1", "/11", "/2", "/3"])
    await poll { fixture.cancelled.contains(1) }
  }

  @Test func anItemThatIsTakenOutIsNotFetched() async throws {
    let gate = Gate()
    let fixture = try PrefetcherFixture(items: 4, answer: { _ in .picture.held(by: gate) })
    fixture.show(row: 0)
    await poll { fixture.origin.requests.count == 4 }
    fixture.prefetcher.remove(at: 1)
    fixture.prefetcher.remove(at: 77)
    await poll { fixture.origin.requests(for: "/1").first?.outcome == .clientClosed }
    gate.open()
    await fixture.prefetcher.waitUntilSettled()
    await poll { fixture.ready.count == 3 }
    #expect(fixture.ready.map(\.index).sorted() == [0, 1, 2])
    #expect(try await fixture.prefetcher.thumbnail(at: 2) == fixture.pipeline.thumbnail(for: fixture.request(3)))
    #expect(fixture.origin.requests.count == 4)
  }

  @Test func aReplacedItemIsFetchedAnew() async throws {
    let fixture = try PrefetcherFixture(items: 2)
    await fixture.settle(row: 0)
    fixture.prefetcher.replace(at: 1, with: fixture.source(9))
    fixture.prefetcher.replace(at: 2, with: fixture.source(9))
    await fixture.prefetcher.waitUntilSettled()
    #expect(fixture.paths.sorted() == ["/0", "/1", "/9"])
  }

  @Test func cellsWithoutAPictureCostNothing() async throws {
    let fixture = try PrefetcherFixture(items: 0)
    fixture.prefetcher.setSections([
      .init(items: [nil, fixture.source(0)], headerHeight: 50), .init(items: [fixture.source(1), nil]),
    ])
    #expect(fixture.prefetcher.layout.contentHeight == 450)
    await fixture.settle(row: 0)
    #expect(fixture.paths.sorted() == ["/0", "/1"])
    #expect(fixture.prefetcher.visibleItems == 0..<4)
    await #expect(throws: ThumbnailError.invalidRequest(reason: "item 0 has no picture")) {
      try await fixture.prefetcher.thumbnail(at: 0)
    }
    await #expect(throws: ThumbnailError.invalidRequest(reason: "there is no item 4: the list has 4")) {
      try await fixture.prefetcher.thumbnail(at: 4)
    }
    #expect(fixture.prefetcher.cachedThumbnail(at: 1) != nil)
    #expect(fixture.prefetcher.cachedThumbnail(at: 0) == nil)
  }

  @Test func anotherLayoutBringsOtherItemsIntoView() async throws {
    let fixture = try PrefetcherFixture(items: 100, options: { $0.screensAhead = 0 })
    await fixture.settle(row: 0)
    fixture.prefetcher.setLayout(GridLayout(columns: 3, cell: PixelSize(100, 100)))
    await fixture.prefetcher.waitUntilSettled()
    #expect(fixture.prefetcher.visibleItems == 0..<12)
    #expect(fixture.origin.requests.count == 12)
  }
}
