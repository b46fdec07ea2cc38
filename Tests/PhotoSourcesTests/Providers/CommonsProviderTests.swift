@testable import HTTPSemantics
@testable import HTTPTransport
@testable import PhotoSources
@testable import ThumbnailCore

@Suite(.timeLimit(.minutes(5))) struct CommonsProviderTests {
  private let clock = TestClock()

  private func provider(_ commons: PhotoServiceOrigin, namesContact: Bool = true) throws -> any PhotoProvider {
    try PhotoSourcesTests.provider(.commons, commons, namesContact: namesContact, clock: clock.clock)
  }

  private func stubbed(_ client: StubHTTPClient, namesContact: Bool = true) throws -> ServiceProvider {
    try PhotoSourcesTests.stubbed(.commons(namesContact: namesContact), client, clock: clock.clock)
  }

  @Test func aSearchIsReadToItsEndInTheRightOrder() async throws {
    let commons = try PhotoServiceOrigin.commons(lakes(120))
    let pages = try await provider(commons).pages(of: PhotoQuery("lake", pageSize: 1000))
    #expect(pages.map(\.count) == [50, 50, 20])
    #expect(pages.flatMap { $0 } == (1...120).map { "\($0)" })
    let queries = commons.apiRequests.map(\.request.query)
    #expect(queries.map { $0["gsroffset"] } == [nil, "50", "100"])
    #expect(queries.allSatisfy { $0["gsrsearch"] == "lake filetype:bitmap" && $0["iiurlwidth"] == "500" })
    // 200 a minute.
    #expect(clock.waits.count == 2 && clock.waits.allSatisfy { $0 > .milliseconds(200) })
  }

  @Test func withoutAContactItIsAskedLessOften() async throws {
    let commons = try PhotoServiceOrigin.commons(lakes(14))
    let provider = try provider(commons, namesContact: false)
    #expect(try await provider.pages(of: PhotoQuery("lake", pageSize: 2)).count == 7)
    // Four at once, then six a minute.
    #expect(clock.waits.count == 3 && clock.waits.allSatisfy { $0 > .seconds(9) && $0 <= .seconds(10) })
  }

  @Test func nothingFoundIsAnEmptyPage() async throws {
    let commons = try PhotoServiceOrigin.commons(lakes(1))
    #expect(try await provider(commons).search(PhotoQuery("desert"), at: nil) == PhotoPage(photos: [], next: nil))
  }

  @Test func readsAPhoto() async throws {
    let commons = try PhotoServiceOrigin.commons([
      OriginPicture(id: "12", description: "lake", width: 3000, height: 2000)
    ])
    let photo = try #require(try await provider(commons).search(PhotoQuery("lake"), at: nil).photos.first)
    #expect(photo.id == "12" && photo.title == "lake" && photo.size == PixelSize(3000, 2000))
    #expect(photo.author == "Test B & Co")
    #expect(photo.authorURL?.absoluteString == "https://commons.wikimedia.org/wiki/User:B")
    #expect(photo.licence?.name == "CC BY-SA 4.0")
    #expect(photo.licence?.url?.absoluteString == "https://creativecommons.org/licenses/by-sa/4.0")
    #expect(photo.attribution == "Test B & Co, CC BY-SA 4.0, via Wikimedia Commons")
    #expect(photo.pageURL?.absoluteString == "https://commons.wikimedia.org/wiki/File:Test_12.jpg")
    let source = photo.source(for: PixelSize(300, 300), fit: .cover)
    #expect(source.identity == "commons:12")
    #expect(source.url.path().hasSuffix("/500px-Test_12.jpg"))
  }

  @Test func fieldsMayBeMissingOrNumbers() async throws {
    let image = #""width":10,"height":9,"url":"https://u.example.org/a.jpg""#
    let pages = [
      #"{"pageid":1,"title":"File:A b.jpg","index":3,"imageinfo":[{\#(image),"extmetadata":[]}]}"#,
      #"{"pageid":2,"title":"File:B","index":1,"imageinfo":[{\#(image),"extmetadata":{"ObjectName":{"value":2024}}}]}"#,
      #"{"pageid":3,"title":"File:C.jpg","index":2,"imageinfo":[{\#(image)}]}"#,
      #"{"pageid":4,"title":"File:D.jpg","imageinfo":[{"width":10,"height":9}]}"#,
      #"{"pageid":5,"title":"File:E.tif","imageinfo":[{\#(image),"mime":"image/tiff"}]}"#,
      #"{"pageid":6,"title":"File:F.jpg"}"#,
    ]
    let client = StubHTTPClient(#"{"query":{"pages":[\#(pages.joined(separator: ","))]}}"#)
    let page = try await stubbed(client).search(PhotoQuery("x"), at: nil)
    #expect(page.photos.map(\.title) == ["2024", "C", "A b"])
    #expect(
      page.skipped.map(\.reason) == ["imageinfo.url is missing"] || page.skipped.map(\.reason) == ["url is missing"])
    #expect(page.photos.last?.attribution == "via Wikimedia Commons")
  }

  @Test func pagesOfOtherKindsOfFilesArePassedOver() async throws {
    let drawings = lakes(60, type: "image/gif")
    let commons = try PhotoServiceOrigin.commons(drawings + [OriginPicture(id: "99", description: "lake")])
    let page = try await provider(commons).search(PhotoQuery("lake", pageSize: 50), at: nil)
    #expect(page.photos.map(\.id) == ["99"] && page.next == nil && page.skipped.isEmpty)
  }

  @Test(arguments: [
    ("maxlag", "rate-limited"), ("ratelimited", "rate-limited"), ("readonly", "unreachable"),
    ("internal_api_error_DBQueryError", "unreachable"), ("cirrussearch-too-busy-error", "unreachable"),
    ("cirrussearch-backend-error", "unreachable"), ("cirrussearch-query-too-long", "bad-request"),
    ("blocked", "blocked"), ("globalblocking-ipblocked", "blocked"), ("badvalue", "bad-request"),
  ])
  func anErrorComesWithTheStatus200(code: String, expected: String) async throws {
    let client = StubHTTPClient(
      200, #"{"error":{"code":"\#(code)","info":"what is <b>wrong</b>"}}"#,
      headers: [HTTPHeader("MediaWiki-API-Error", code)])
    let error = try #require(try await searchError(try stubbed(client)))
    #expect(error.code == expected)
    if expected == "bad-request" { #expect(error.message.contains("what is wrong")) }
  }

  @Test func anUnlistedWidthIsNotARateLimitWhateverItsStatusSays() async throws {
    let commons = try PhotoServiceOrigin.commons(lakes(1))
    commons.failNext(with: PhotoServiceOrigin.unlistedWidth)
    let provider = try provider(commons)
    #expect(try await searchError(provider)?.code == "bad-request")
    // Nothing is to be waited for.
    #expect(try await searchError(provider) == nil)
  }

  @Test func a403AsksForAContactUnlessThereIsOne() async throws {
    let client = StubHTTPClient(403, "<html>your network is blocked</html>")
    let error = try await searchError(try stubbed(client, namesContact: false))
    #expect(error?.code == "blocked" && error?.message.contains("(userAgent)") == true)
    #expect(
      try await searchError(try stubbed(client)) == .blocked(provider: "commons", reason: "your network is blocked"))
  }

  /// Further on Commons answers with an error.
  @Test func aSearchEndsAtTheDepthOfTheIndex() async throws {
    func next(offset: Int) async throws -> PageCursor? {
      let file =
        #"{"pageid":1,"title":"File:A","imageinfo":[{"width":9,"height":9,"url":"https://u.example.org/a.jpg"}]}"#
      let client = StubHTTPClient(
        #"{"continue":{"gsroffset":\#(offset),"continue":"gsroffset||"},"query":{"pages":[\#(file)]}}"#)
      return try await stubbed(client).search(
        PhotoQuery("x"), at: PageCursor("continue=gsroffset%7C%7C&gsroffset=\(offset - 50)")
      ).next
    }
    #expect(try await next(offset: 9950) != nil)
    #expect(try await next(offset: 10_000) == nil)
  }

  @Test func photosByChance() async throws {
    let commons = try PhotoServiceOrigin.commons(lakes(70))
    #expect(try await provider(commons).random(count: 5).count == 5)
    #expect(commons.apiRequests.first?.request.query["gsrsort"] == "random")
    // The copy always gives the same 50: it is not asked for ever.
    #expect(Set(try await provider(commons).random(count: 60).map(\.id)).count == 50)
  }

  @Test func aFewFilesOfOtherKindsDoNotCostASecondCall() async throws {
    let commons = try PhotoServiceOrigin.commons(lakes(5, type: "image/tiff") + lakes(36).dropFirst(5))
    #expect(try await provider(commons).random(count: 30).count == 30)
    #expect(commons.apiRequests.count == 1)
  }

  @Test func aCursorCannotChangeWhatIsAskedFor() async throws {
    let client = StubHTTPClient("{}")
    let provider = try stubbed(client)
    let cursor = PageCursor("action=delete&continue=gsroffset%7C%7C&gsroffset=50")
    _ = try await provider.search(PhotoQuery("x"), at: cursor)
    let query = try #require(client.requests.first?.url.query())
    #expect(query.contains("action=query") && !query.contains("delete"))
    #expect(query.contains("gsroffset=50&") || query.hasSuffix("gsroffset=50"))
    #expect(query.contains("continue=gsroffset%7C%7C"))
    for token in ["", "2", "gsroffset=1", "%", "a%22b=1&continue=c", "ü=1&continue=c"] {
      #expect(try await searchError(provider, at: PageCursor(token))?.code == "bad-request", "\(token)")
    }
  }
}
