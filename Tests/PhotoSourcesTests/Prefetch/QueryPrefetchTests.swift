@testable import PhotoSources
@testable import PipelineTestSupport
@testable import Thumbnailer

@Suite(.timeLimit(.minutes(5))) struct QueryPrefetchTests {
  /// Pages of pictures on an origin; a page can be held back or fail.
  private struct Pages: PhotoProvider {
    let name = "pages"
    let capabilities = ProviderCapabilities(searches: true, picksRandom: false)
    let origin: Origin
    let count: Int
    let perPage: Int
    var failingPage: Int?
    let asked = Recorder<Int>()

    func search(_ query: PhotoQuery, at cursor: PageCursor?) async throws(ProviderError) -> PhotoPage {
      let number = cursor.flatMap { Int($0.token) } ?? 1
      asked.append(number)
      if number == failingPage { throw .unreachable(provider: name, reason: "gone") }
      let photos = (0..<perPage).map { index in
        let path = "/page\(number)/\(index).jpg"
        return Photo(id: path, provider: name, source: ImageSource(origin.url(path)))
      }
      return PhotoPage(photos: photos, next: number < count ? PageCursor("\(number + 1)") : nil)
    }

    func random(count: Int) async throws(ProviderError) -> [Photo] { [] }
  }

  private let variants = [Variant(size: PixelSize(40, 40), fit: .cover), Variant(size: PixelSize(20, 20), fit: .cover)]

  private func prefetch(
    _ pages: Pages, _ fixture: PipelineFixture, limits: QueryPrefetch.Limits = .init()
  ) -> QueryPrefetch {
    QueryPrefetch(provider: pages, query: "", pipeline: fixture.pipeline, variants: variants, limits: limits)
  }

  private func photos(_ prefetch: QueryPrefetch) async throws -> [PhotoOutcome] {
    var photos: [PhotoOutcome] = []
    for try await case .photo(let photo) in prefetch { photos.append(photo) }
    return photos
  }

  @Test func allPicturesOfAllPagesAreMadeInAllSizes() async throws {
    let fixture = try PipelineFixture()
    let pages = Pages(origin: fixture.origin, count: 3, perPage: 4)
    let photos = try await photos(self.prefetch(pages, fixture))
    #expect(Set(photos.map(\.photo.id)).count == 12)
    for photo in photos { #expect(try photo.results.map { try $0.get().thumbnail.size.width } == [40, 20]) }
    #expect(fixture.origin.requests.count == 12)
    #expect(pages.asked.values == [1, 2, 3])
  }

  @Test func theNextPageIsAskedForWhileThisOneDownloadsAndNoMoreThanThat() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture { $0.path.hasPrefix("/page1/") ? .picture.held(by: gate) : .picture }
    let pages = Pages(origin: fixture.origin, count: 9, perPage: 2)
    let prefetch = self.prefetch(pages, fixture, limits: .init(pages: nil))
    let run = Task { try await photos(prefetch) }
    // Page 1 is under way. Page 2 is done, and so is each page that took its place; page 1 holds the other place.
    await poll { pages.asked.values == Array(1...9) }
    await poll { fixture.origin.requests(for: "/page1/0.jpg").first?.outcome == .running }
    gate.open()
    #expect(try await run.value.count == 18)
  }

  @Test func aConsumerThatFallsBehindHoldsTheSourceBack() async throws {
    let fixture = try PipelineFixture()
    let pages = Pages(origin: fixture.origin, count: 50, perPage: 3)
    let iterator = self.prefetch(pages, fixture, limits: .init(pages: nil)).makeAsyncIterator()
    for _ in 0..<3 { _ = try await iterator.next() }
    await poll { fixture.pipeline.activeJobs == 0 }
    #expect(pages.asked.values.count <= 3)
  }

  @Test func aSourceThatFailsEndsTheRunAfterItsPicturesAreDone() async throws {
    let fixture = try PipelineFixture()
    let pages = Pages(origin: fixture.origin, count: 5, perPage: 2, failingPage: 3)
    var done = 0
    await #expect(throws: ProviderError.unreachable(provider: "pages", reason: "gone")) {
      let prefetch = self.prefetch(pages, fixture, limits: .init(pages: nil))
      for try await case .photo in prefetch { done += 1 }
    }
    #expect(done == 4)
  }

  @Test func oneFailedPictureLeavesTheOthersAlone() async throws {
    let fixture = try PipelineFixture { $0.path == "/page1/1.jpg" ? .status(404) : .picture }
    let pages = Pages(origin: fixture.origin, count: 1, perPage: 3)
    let photos = try await photos(self.prefetch(pages, fixture))
    #expect(photos.filter { $0.firstError != nil }.map(\.photo.id) == ["/page1/1.jpg"])
    #expect(photos.count == 3)
  }

  @Test func cancellingEndsTheRunAndWhatIsUnderWay() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture { _ in .picture.held(by: gate) }
    let pages = Pages(origin: fixture.origin, count: 3, perPage: 4)
    let prefetch = self.prefetch(pages, fixture)
    let run = Task { try await photos(prefetch) }
    await poll { fixture.origin.runningRequests >= 4 }
    run.cancel()
    #expect(try await run.value.isEmpty)
    await poll { fixture.pipeline.activeJobs == 0 && fixture.origin.runningRequests == 0 }
  }
}
