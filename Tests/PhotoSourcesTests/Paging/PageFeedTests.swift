import Synchronization

@testable import PhotoSources
@testable import PipelineTestSupport
@testable import Thumbnailer

/// Pages of a source that go to a prefetcher as it asks for items: cells 100 points high, four of them in view.
@Suite(.timeLimit(.minutes(5))) struct PageFeedTests {
  /// Gives pages of two photos; behind the third page the photos of the first come again, for ever.
  private final class Circle: PhotoProvider {
    let name = "circle"
    let capabilities = ProviderCapabilities(searches: true, picksRandom: false)
    private let photos: [Photo]
    private let asked = Mutex(0)
    var pagesAsked: Int { asked.withLock { $0 } }

    init(_ fixture: PrefetcherFixture) {
      photos = (0..<6).map { Photo(id: "p\($0)", provider: "circle", source: fixture.source($0)) }
    }

    func search(_ query: PhotoQuery, at cursor: PageCursor?) async throws(ProviderError) -> PhotoPage {
      let page = asked.withLock { count in
        count += 1
        return count - 1
      }
      let first = page % 3 * 2
      return PhotoPage(photos: Array(photos[first..<first + 2]), next: PageCursor("\(page + 1)"))
    }

    func random(count: Int) async throws(ProviderError) -> [Photo] { [] }
  }

  @Test func aSourceWithoutAnEndThatRepeatsItselfIsLeft() async throws {
    let fixture = try PrefetcherFixture(items: 0)
    let circle = Circle(fixture)
    fixture.show(row: 0)
    try await PageFeed(provider: circle, query: PhotoQuery("lake")).run(into: fixture.prefetcher)
    #expect(fixture.prefetcher.itemCount == 6)
    #expect(circle.pagesAsked == 3 + PagedSearch.Rules().mostBarrenPages)
  }

  @Test func noMoreThanIsAllowedIsAskedFor() async throws {
    let fixture = try PrefetcherFixture(items: 0)
    let circle = Circle(fixture)
    fixture.show(row: 0)
    try await PageFeed(provider: circle, query: PhotoQuery("lake"), pages: 2).run(into: fixture.prefetcher)
    #expect(fixture.prefetcher.itemCount == 4 && circle.pagesAsked == 2)

    let other = try PrefetcherFixture(items: 0)
    let again = Circle(other)
    other.show(row: 0)
    let added = Recorder<Int>()
    try await PageFeed(provider: again, query: PhotoQuery("lake"), photos: 3).run(into: other.prefetcher) {
      sources, _ in
      added.append(sources.count)
    }
    #expect(other.prefetcher.itemCount == 3 && again.pagesAsked == 2 && added.values == [2, 1])
  }
}
