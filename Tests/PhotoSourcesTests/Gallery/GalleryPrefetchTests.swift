@testable import PhotoSources
@testable import ThumbnailCore
@testable import Thumbnailer

/// A gallery with a prefetcher: the photos go one way, the wish for more of them the other.
@Suite(.timeLimit(.minutes(5))) struct GalleryPrefetchTests {
  private let fixture: GalleryFixture
  private let prefetcher: Prefetcher
  private let gallery: Gallery

  init() throws {
    fixture = try GalleryFixture(photos: 100)
    let layout = GridLayout(columns: 2, cell: PixelSize(20, 20), scale: 1)
    prefetcher = Prefetcher(pipeline: fixture.pipeline, layout: layout)
    var options = Gallery.Options()
    options.pageSize = 10
    gallery = Gallery(
      provider: try fixture.provider(), pipeline: fixture.pipeline, prefetcher: prefetcher, options: options,
      clock: fixture.clock)
  }

  @Test func whatIsInViewIsMadeAndPagesComeAheadOfIt() async throws {
    prefetcher.setViewport(Viewport(offset: 0, height: 40))
    _ = try await gallery.found("lake")
    // The view shows four, and wants some beyond them: of that the gallery needs no word.
    await poll { prefetcher.cachedThumbnail(at: 3) != nil }
    await poll { gallery.snapshot.items.count == prefetcher.itemCount && !gallery.snapshot.state.isLoading }
    let before = prefetcher.itemCount
    #expect(before >= 10 && before < 100)
    prefetcher.setViewport(Viewport(offset: Double(before / 2) * 20 - 40, height: 40))
    await poll { prefetcher.itemCount > before }
  }

  @Test func afterAFailureAViewThatRestsGetsItsItems() async throws {
    fixture.unsplash.failNext(with: .status(503))
    prefetcher.setViewport(Viewport(offset: 0, height: 40))
    #expect(try await gallery.found("lake").items.isEmpty)
    await poll { fixture.clock.sleeperCount == 1 }
    fixture.clock.advance(by: .seconds(1))
    await poll { prefetcher.cachedThumbnail(at: 3) != nil }
  }

  @Test func theItemsAreThoseOfTheSnapshots() async throws {
    _ = try await gallery.found("lake")
    await gallery.loadNextPage()
    let items = try await gallery.settled().items
    #expect(prefetcher.itemCount == 20)
    await gallery.delete(items[3].id)
    #expect(prefetcher.itemCount == 19)
    let variant = prefetcher.variant
    let picture = try await prefetcher.thumbnail(at: 3)
    let other = items[4].photo.source(for: variant.size, fit: variant.fit)
    #expect(fixture.pipeline.cachedThumbnail(for: CacheKey(source: other.key, variant: variant))?.data == picture.data)
    _ = try await gallery.found("number 7")
    #expect(prefetcher.itemCount == gallery.snapshot.items.count)
  }
}
