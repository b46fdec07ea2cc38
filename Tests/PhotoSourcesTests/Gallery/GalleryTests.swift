@testable import PhotoSources
@testable import Thumbnailer

@Suite(.timeLimit(.minutes(5))) struct GalleryTests {
  @Test func aSearchIsListedPageByPage() async throws {
    let fixture = try GalleryFixture()
    let gallery = try fixture.gallery()
    #expect(gallery.snapshot.state == .idle)
    let first = try await gallery.found("lake")
    #expect(first.state == .loaded && first.items.count == 30 && first.content.total == 70)
    await gallery.showed(itemAt: 29)
    #expect(try await gallery.settled().items.count == 60)
    await gallery.showed(itemAt: 59)
    let last = try await gallery.settled()
    #expect(last.items.map(\.photo.id) == (0..<70).map { "p\($0)" } && !last.content.hasMore)
    await gallery.showed(itemAt: 69)
    #expect(await !gallery.loadNextPage())
    #expect(fixture.unsplash.apiRequests.count == 3)
    #expect(fixture.unsplash.imageRequests.isEmpty)
  }

  @Test func typingSearchesOnceAfterAPause() async throws {
    let fixture = try GalleryFixture()
    let gallery = try fixture.gallery()
    for text in ["l", "la", "lak", "lake"] {
      await gallery.type(text)
      await poll { fixture.clock.sleeperCount == 1 }
      fixture.clock.advance(by: .milliseconds(299))
    }
    #expect(fixture.unsplash.apiRequests.isEmpty && gallery.snapshot.state == .idle)
    fixture.clock.advance(by: .milliseconds(1))
    let snapshot = try await gallery.settled()
    #expect(snapshot.content.query == "lake" && snapshot.items.count == 30)
    #expect(fixture.unsplash.apiRequests.count == 1)
  }

  @Test func whatWasTypedLastIsSearchedForHoweverItMeetsTheEndOfThePause() async throws {
    let fixture = try GalleryFixture(photos: 1)
    let gallery = try fixture.gallery()
    for round in 0..<30 {
      await gallery.type("old \(round)")
      await poll { fixture.clock.sleeperCount == 1 }
      async let typed: Void = gallery.type("new \(round)")
      fixture.clock.advance(by: .milliseconds(300))
      await typed
      await poll {
        fixture.clock.advance(by: .milliseconds(300))
        return gallery.snapshot.content.query == "new \(round)"
      }
    }
  }

  @Test func aSearchAtOnceEndsTheTyping() async throws {
    let fixture = try GalleryFixture()
    let gallery = try fixture.gallery()
    await gallery.type("sea")
    await poll { fixture.clock.sleeperCount == 1 }
    #expect(try await gallery.found("number 7").items.count == 7)
    await poll { fixture.clock.sleeperCount == 0 }
    fixture.clock.advance(by: .seconds(1))
    #expect(gallery.snapshot.content.query == "number 7")
    #expect(fixture.unsplash.apiRequests.count == 1)
  }

  @Test func aSlowReaderGetsTheNewestSnapshot() async throws {
    let fixture = try GalleryFixture()
    let gallery = try fixture.gallery()
    var slow = gallery.snapshots.makeAsyncIterator()
    _ = try await gallery.found("lake")
    await gallery.loadNextPage()
    _ = try await gallery.snapshot { $0.items.count == 60 }
    #expect(await slow.next()?.items.count == 60)
  }

  @Test func snapshotsEndWithTheGallery() async throws {
    let fixture = try GalleryFixture()
    var gallery: Gallery? = try fixture.gallery()
    let snapshots = try #require(gallery).snapshots
    gallery = nil
    var states: [GalleryState] = []
    for await snapshot in snapshots { states.append(snapshot.state) }
    #expect(states == [.idle])
  }

  @Test func withoutWordsPicturesComeByChance() async throws {
    let fixture = try GalleryFixture(photos: 40)
    let gallery = try fixture.gallery()
    #expect(try await gallery.found("").items.count == 30)
    #expect(fixture.unsplash.apiRequests.map(\.path) == ["/photos/random"])
    let listing = try fixture.gallery { $0.picksRandom = false }
    #expect(try await listing.found("").items.map(\.photo.id) == (0..<30).map { "p\($0)" })
  }

  @Test func deletingTakesAPhotoOutOfTheGalleryAndTheCaches() async throws {
    let fixture = try GalleryFixture(photos: 3)
    let gallery = try fixture.gallery()
    let items = try await gallery.found("lake").items
    try await fixture.makeThumbnails(of: items)
    let downloads = fixture.unsplash.imageRequests.count
    await gallery.delete(items[1].id)
    #expect(gallery.snapshot.items.map(\.photo.id) == ["p0", "p2"])
    try await fixture.makeThumbnails(of: items)
    #expect(fixture.unsplash.imageRequests.count == downloads + 1)
    let store = try #require(fixture.pipeline.pageStore)
    let stored = await OfflineProvider(of: "unsplash", store: store).storedFirstPage(of: PhotoQuery("lake"))?.page
    #expect(stored?.photos.map(\.id) == ["p0", "p2"])
  }
}
