@testable import HTTPSemantics
@testable import HTTPTransport
@testable import PhotoSources
@testable import ThumbnailCore
@testable import Thumbnailer

/// Galleries without a network: scenarios 75 and 78 as far as they concern them.
@Suite(.timeLimit(.minutes(5))) struct GalleryOfflineTests {
  @Test func aKnownSearchOpensWithoutANetworkAfterARestart() async throws {
    let fixture = try GalleryFixture()
    let online = try fixture.gallery()
    _ = try await online.found("mountain lake")
    _ = try await online.found("lake")
    await online.loadNextPage()
    let shown = try await online.snapshot { $0.items.count == 60 }
    try await fixture.makeThumbnails(of: shown.items.prefix(2))
    let pipeline = try await fixture.restarted()
    fixture.unsplash.origin.stop()

    let gallery = try fixture.gallery(on: pipeline)
    let first = try await gallery.found("  LAKE ")
    #expect(first.isOffline && first.items == Array(shown.items.prefix(30)) && first.content.total == 70)
    let photo = try #require(first.items.first).photo
    #expect(photo.attribution == "Photo by Test Er on Unsplash" && photo.licence?.name == "Unsplash License")
    await gallery.showed(itemAt: 29)
    let second = try await gallery.settled()
    #expect(second.items == shown.items && second.state.kind == "offline")
    // What has a thumbnail is shown, and what has none fails with a plain error.
    let size = PixelSize(40, 40)
    let known = try await pipeline.thumbnail(
      for: ThumbnailRequest(photo.source(for: size, fit: .cover), variant: Variant(size: size, fit: .cover)))
    #expect(known.size == size)
    let missing = second.items[40].photo.source(for: size, fit: .cover)
    await #expect(throws: ThumbnailError.self) {
      try await pipeline.thumbnail(for: ThumbnailRequest(missing, variant: Variant(size: size, fit: .cover)))
    }
  }

  @Test func aPageWhosePhotosWereAllDeletedIsNotTheEndOfAStoredSearch() async throws {
    let fixture = try GalleryFixture(photos: 6)
    let online = try fixture.gallery { $0.pageSize = 2 }
    _ = try await online.found("lake")
    await online.loadNextPage()
    let shown = try await online.snapshot { $0.items.count == 4 && !$0.state.isLoading }
    for item in shown.items.prefix(2) { await online.delete(item.id) }
    let pipeline = try await fixture.restarted()
    fixture.unsplash.origin.stop()

    let gallery = try fixture.gallery(on: pipeline) { $0.pageSize = 2 }
    #expect(try await gallery.found("lake").items.map(\.photo.id) == ["p2", "p3"])
  }

  @Test func withoutWordsEveryCachedPictureIsShown() async throws {
    let fixture = try GalleryFixture(photos: 9)
    let shown = try await fixture.gallery().found("")
    try await fixture.makeThumbnails(of: shown.items.prefix(4))
    fixture.unsplash.origin.stop()
    let gallery = try fixture.gallery()
    #expect(Set(try await gallery.found("").items.map(\.id)) == Set(shown.items.prefix(4).map(\.id)))
  }

  @Test func aSourceThatAnswersAgainIsFoundWithoutAWord() async throws {
    let fixture = try GalleryFixture(photos: 3)
    let gallery = try fixture.gallery()
    fixture.unsplash.failNext(with: .status(503), .status(503))
    #expect(try await gallery.found("lake").items.isEmpty)
    for pause in [1, 2] {
      await poll { fixture.clock.sleeperCount == 1 }
      fixture.clock.advance(by: .seconds(pause))
    }
    let found = try await gallery.snapshot { $0.state == .loaded }
    #expect(found.items.count == 3 && !found.isOffline)
    #expect(fixture.unsplash.apiRequests.count == 3)
    // Nothing is waited for any more.
    await poll { fixture.clock.sleeperCount == 0 }
  }

  @Test func aSourceThatFailsIsLeftAloneWhileNothingIsWanted() async throws {
    let fixture = try GalleryFixture()
    let gallery = try fixture.gallery()
    _ = try await gallery.found("lake")
    fixture.unsplash.failNext(with: .status(503))
    await gallery.showed(itemAt: 29)
    _ = try await gallery.snapshot { $0.isOffline }
    await poll { fixture.clock.sleeperCount == 1 }
    // The view goes back to where there is enough.
    await gallery.showed(itemAt: 0)
    await poll { fixture.clock.sleeperCount == 0 }
    #expect(fixture.unsplash.apiRequests.count == 2)
  }

  @Test func thePagesOfAPrefetchAreThereWithoutANetwork() async throws {
    let fixture = try GalleryFixture(photos: 40)
    let store = try #require(fixture.pipeline.pageStore)
    let prefetch = QueryPrefetch(
      provider: try fixture.provider().storingPages(in: store), query: "lake", pipeline: fixture.pipeline,
      variants: [Variant(size: PixelSize(40, 40), fit: .cover)])
    for try await _ in prefetch {}
    await fixture.pipeline.flush()
    fixture.unsplash.origin.stop()
    let images = fixture.unsplash.imageRequests.count

    let offline = OfflineProvider(of: "unsplash", store: store)
    #expect(try await offline.ids(of: "lake") == (0..<40).map { "p\($0)" })
    #expect(try await Set(offline.ids(of: "other")) == Set((0..<40).map { "p\($0)" }))
    let again = QueryPrefetch(
      provider: offline, query: "lake", pipeline: fixture.pipeline,
      variants: [Variant(size: PixelSize(40, 40), fit: .cover)],
      limits: .init(pages: nil))
    var hits = 0
    for try await case .photo(let outcome) in again { hits += outcome.firstError == nil ? 1 : 0 }
    #expect(hits == 40 && fixture.unsplash.imageRequests.count == images)
  }

  @Test func nothingStoredIsAnErrorOfTheOfflineProvider() async throws {
    let fixture = try GalleryFixture(photos: 1)
    let offline = OfflineProvider(of: "unsplash", store: try #require(fixture.pipeline.pageStore))
    #expect(try await searchError(offline)?.code == "unreachable")
    #expect(try await searchError(offline, at: PageCursor("7"))?.code == "bad-request")
  }

  @Test func aMissingPageInTheMiddleEndsAStoredSearch() async throws {
    let fixture = try GalleryFixture(photos: 40)
    let store = try #require(fixture.pipeline.pageStore)
    let offline = OfflineProvider(of: "unsplash", store: store)
    _ = try await fixture.provider().storingPages(in: store).search(PhotoQuery("lake", pageSize: 20), at: nil)
    let page = try await offline.search(PhotoQuery("lake"), at: nil)
    #expect(page.photos.count == 20 && page.next == nil)
    // Of pages of two sizes, those of the requested size.
    _ = try await fixture.provider().storingPages(in: store).search(PhotoQuery("lake", pageSize: 10), at: nil)
    #expect(try await offline.search(PhotoQuery("lake", pageSize: 20), at: nil).photos.count == 20)
  }

  @Test func aGalleryOfWhatIsStoredLeavesTheStoreAsItIs() async throws {
    let fixture = try GalleryFixture(photos: 40)
    let store = try #require(fixture.pipeline.pageStore)
    let storing = try fixture.provider().storingPages(in: store)
    let first = try await storing.search(PhotoQuery("lake"), at: nil)
    _ = try await storing.search(PhotoQuery("lake"), at: first.next)
    let offline = try fixture.provider().offline(in: store)
    #expect(offline.storingPages(in: store) is OfflineProvider)

    let gallery = Gallery(provider: offline, pipeline: fixture.pipeline, clock: fixture.clock)
    _ = try await gallery.found("lake")
    await gallery.loadNextPage()
    #expect(try await gallery.settled().items.count == 40)
    let kept = await OfflineProvider(of: "unsplash", store: store).storedFirstPage(of: PhotoQuery("lake"))
    #expect(kept?.page.next == first.next)
  }

  @Test func aGalleryOfWhatIsStoredSaysSoAndForgetsWhatIsDeleted() async throws {
    let fixture = try GalleryFixture(photos: 3)
    let store = try #require(fixture.pipeline.pageStore)
    let items = try await fixture.gallery().found("lake").items
    try await fixture.makeThumbnails(of: items)
    fixture.unsplash.origin.stop()
    let asked = fixture.unsplash.apiRequests.count

    let gallery = Gallery(
      provider: OfflineProvider(of: "unsplash", store: store), pipeline: fixture.pipeline, clock: fixture.clock)
    let shown = try await gallery.found("lake")
    #expect(shown.state == .loaded && shown.isOffline && shown.items == items)
    await gallery.delete(items[1].id)
    #expect(gallery.snapshot.items.map(\.photo.id) == ["p0", "p2"])
    let pipeline = try await fixture.restarted()
    let offline = OfflineProvider(of: "unsplash", store: try #require(pipeline.pageStore))
    #expect(try await offline.ids(of: "lake") == ["p0", "p2"])
    #expect(fixture.unsplash.apiRequests.count == asked)
  }

  @Test func foldersAndListsAreNotStored() throws {
    let fixture = try GalleryFixture(photos: 1)
    let store = fixture.pipeline.pageStore
    #expect(FolderProvider(path: "/tmp").storingPages(in: store) is FolderProvider)
    #expect(URLListProvider(path: "/tmp/list").storingPages(in: store) is URLListProvider)
    #expect(try fixture.provider().storingPages(in: store) is StoringProvider)
    #expect(try fixture.provider().storingPages(in: nil) is ServiceProvider)
    #expect(try FolderProvider(path: "/tmp").offline(in: store) is FolderProvider)
    #expect(try fixture.provider().offline(in: store) is OfflineProvider)
    #expect(throws: ProviderError.self) { try fixture.provider().offline(in: nil) }
  }
}
