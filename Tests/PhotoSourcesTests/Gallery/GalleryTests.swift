@testable import PhotoSources
import TestSupport
@testable import Thumbnailer

@Suite(.timeLimit(.minutes(5))) struct GalleryTests {
  @Test func aSearchIsListedPageByPage() async throws {
    let fixture = try GalleryFixture()
    let gallery = try fixture.gallery()
    #expect(gallery.snapshot.state == .idle)
    let first = try await gallery.found("lake")
    #expect(first.state == .loaded && first.items.count == 30 && first.total == 70)
    await gallery.showed(itemAt: 29)
    #expect(try await gallery.settled().items.count == 60)
    await gallery.showed(itemAt: 59)
    let last = try await gallery.settled()
    #expect(last.items.map(\.photo.id) == (0..<70).map { "p\($0)" } && !last.hasMore)
    await gallery.showed(itemAt: 69)
    #expect(await !gallery.loadNextPage())
    #expect(fixture.unsplash.apiRequests.count == 3)
    #expect(fixture.unsplash.imageRequests.isEmpty)
  }

  @Test func theNextPageIsNeverAskedForTwice() async throws {
    let fixture = try GalleryFixture()
    let gallery = try fixture.gallery()
    _ = try await gallery.found("lake")
    await withTaskGroup { group in
      for index in 20..<30 { group.addTask { await gallery.showed(itemAt: index) } }
      for _ in 0..<10 { group.addTask { await gallery.loadNextPage() } }
    }
    _ = try await gallery.snapshot { $0.items.count >= 60 && !$0.state.isLoading }
    let pages = fixture.unsplash.apiRequests.compactMap { $0.request.query["page"] }
    #expect(Set(pages).count == pages.count)
  }

  @Test func aLateAnswerToAnOlderSearchIsIgnored() async throws {
    let gate = Gate()
    let fixture = try GalleryFixture()
    fixture.unsplash.failNext(with: .json(#"{"total":0,"total_pages":0,"results":[]}"#).held(by: gate))
    let gallery = try fixture.gallery()
    await gallery.search("old")
    await poll { fixture.unsplash.apiRequests.count == 1 }
    #expect(try await gallery.found("lake").items.count == 30)
    gate.open()
    await poll { fixture.unsplash.origin.runningRequests == 0 }
    #expect(gallery.snapshot.query == "lake" && gallery.snapshot.items.count == 30)
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

  @Test func aFolderIsAGalleryToo() async throws {
    let fixture = try GalleryFixture()
    let folder = try TemporaryFolder("lake 1.jpg", "lake 2.jpg", "sea.jpg")
    let gallery = Gallery(provider: FolderProvider(path: folder.path), pipeline: fixture.pipeline)
    let snapshot = try await gallery.found("lake")
    #expect(snapshot.items.map(\.photo.id) == ["lake 1.jpg", "lake 2.jpg"] && !snapshot.hasMore)
    #expect(
      try await gallery.found("xyzzy").state == .empty(message: "folder has no picture for “xyzzy”; try other words"))
  }

  @Test func aPageThatBreaksOffInTheMiddleCanBeHadAgain() async throws {
    let fixture = try GalleryFixture()
    let gallery = try fixture.gallery()
    let first = try await gallery.found("lake")
    fixture.unsplash.failNext(with: .json(String(repeating: " ", count: 9_000)).reset(after: 4_000))
    await gallery.loadNextPage()
    let offline = try await gallery.settled()
    #expect(offline.state.kind == "offline" && offline.items == first.items && offline.isOffline)
    // Not before a second has passed.
    await gallery.showed(itemAt: 29)
    #expect(fixture.unsplash.apiRequests.count == 2)
    fixture.clock.advance(by: .seconds(1))
    await gallery.showed(itemAt: 29)
    let recovered = try await gallery.settled()
    #expect(recovered.state == .loaded && recovered.items.count == 60 && !recovered.isOffline)
  }
}
