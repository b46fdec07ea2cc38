import TestSupport

@testable import PhotoSources
@testable import ThumbnailCore

@Suite(.timeLimit(.minutes(5))) struct OpenverseProviderTests {
  private let clock = TestClock()

  private func provider(_ openverse: PhotoServiceOrigin) throws -> any PhotoProvider {
    try PhotoSourcesTests.provider(.openverse, openverse, clock: clock.clock)
  }

  /// The page that an answer gives.
  private func page(_ answer: String) async throws -> PhotoPage {
    try await stubbed(.openverse, StubHTTPClient(answer)).search(PhotoQuery("x"), at: nil)
  }

  @Test func aSearchIsReadToItsEndThreeSecondsAPage() async throws {
    let openverse = try PhotoServiceOrigin.openverse(lakes(50), dead: ["3", "25"])
    let pages = try await provider(openverse).pages(of: PhotoQuery("lake", pageSize: 100))
    // Dead links make pages short before the end.
    #expect(pages.map(\.count) == [19, 19, 10])
    #expect(openverse.apiRequests.map(\.target) == (1...3).map { "/v1/images/?q=lake&page=\($0)&page_size=20" })
    #expect(clock.waits.count == 2 && clock.waits.allSatisfy { $0 > .seconds(2) && $0 <= .seconds(3) })
  }

  @Test func itEndsAtItsDepth() async throws {
    let openverse = try PhotoServiceOrigin.openverse(lakes(300))
    #expect(try await provider(openverse).pages(of: PhotoQuery("lake", pageSize: 20)).count == 12)
    #expect(try await provider(openverse).search(PhotoQuery(), at: nil).total == 240)
  }

  @Test func readsAPhoto() async throws {
    let openverse = try PhotoServiceOrigin.openverse(lakes(1))
    let photo = try #require(try await provider(openverse).search(PhotoQuery("lake"), at: nil).photos.first)
    #expect(photo.id == "1" && photo.title == "lake 1" && photo.author == "Test D" && photo.authorURL == nil)
    #expect(photo.licence?.name == "CC BY-SA 2.0")
    #expect(photo.attribution == "“lake 1” by Test D, CC BY-SA 2.0, via Openverse")
    let source = photo.source(for: PixelSize(200, 200), fit: .cover)
    #expect(source.url.path().hasSuffix("/v1/images/1/thumb/") && source.alternates.count == 1)
    #expect(source.identity == "openverse:1")
  }

  @Test func onlyThreeFieldsAreNeeded() async throws {
    let items = [
      #"{"id":"a","url":"https://o.example.org/ä b.jpg","license":"pdm","title":null,"width":null,"height":5}"#,
      #"{"id":"b","license":"by"}"#, #"{"id":"c","url":"nowhere","license":"by"}"#,
    ]
    let page = try await page(#"{"results":[\#(items.joined(separator: ","))],"page_count":1}"#)
    let photo = try #require(page.photos.first)
    #expect(photo.size == nil && photo.attribution == "Public Domain Mark, via Openverse")
    #expect(
      photo.source(for: PixelSize(9, 9), fit: .cover).url.absoluteString == "https://o.example.org/%C3%A4%20b.jpg")
    #expect(page.skipped.map(\.reason) == ["url is missing", "url is not a URL of the web"])
  }

  @Test func fieldsOfOddTypesThatNothingDependsOnDoNoHarm() async throws {
    let item =
      #"{"id":"a","url":"https://o.example.org/a.jpg","license":"by","title":5,"creator":{},"width":"9","height":[]}"#
    let page = try await page(#"{"results":[\#(item)],"page_count":"many","result_count":1.5}"#)
    #expect(page.photos.map(\.id) == ["a"] && page.skipped.isEmpty && page.total == nil && page.next == nil)
    #expect(page.photos.first?.title == nil && page.photos.first?.size == nil)
  }

  @Test func nothingThatIsTooLargeIsTakenIn() async throws {
    let long = String(repeating: "a", count: 9000)
    let items =
      (1...50).map { #"{"id":"\#($0)","url":"https://o.example.org/\#($0).jpg","license":"by","title":"\#(long)"}"# }
    let page = try await page(#"{"results":[\#(items.joined(separator: ","))],"result_count":-5}"#)
    #expect(page.photos.map(\.id) == (1...20).map { "\($0)" } && page.total == 0)
    #expect(page.skipped.map(\.place) == ["item 21"])
    #expect(page.photos.allSatisfy { $0.title?.count == 501 })
    let endless = StubHTTPClient(#"{"results":[{"id":"a","url":"https://o.example.org/\#(long)","license":"by"}]}"#)
    #expect(try await searchError(stubbed(.openverse, endless))?.message.contains("url is not") == true)
  }

  @Test func aThrottledRequestIsARateLimit() async throws {
    let openverse = try PhotoServiceOrigin.openverse(lakes(1))
    let throttled = OriginResponse(
      status: 429, headers: [("Retry-After", "31")],
      body: Array(#"{"detail":"Request was throttled. Expected available in 31 seconds."}"#.utf8))
    openverse.failNext(with: throttled)
    #expect(
      try await searchError(try provider(openverse)) == .rateLimited(provider: "openverse", retryAfter: .seconds(31)))
  }

}
