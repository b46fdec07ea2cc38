@testable import HTTPSemantics
@testable import HTTPTransport
@testable import PhotoSources
@testable import ThumbnailCore

@Suite(.timeLimit(.minutes(5))) struct UnsplashProviderTests {
  private static let key = "SECRET-key_1"

  /// PROVIDERS' example of an answer, with the changes of a test.
  private static func item(_ id: String = "tst_A1b2C3", _ changes: [String: Any?] = [:]) -> [String: Any] {
    var item: [String: Any] = [
      "id": id, "width": 6000, "height": 4000, "color": "#26402c", "blur_hash": "004V?U", "description": NSNull(),
      "alt_description": "fog over a pine valley",
      "urls": ["raw": "https://images.unsplash.com/photo-100-aa?ixid=T1&ixlib=rb-4.1.0"],
      "links": [
        "html": "https://unsplash.com/photos/\(id)",
        "download_location": "https://api.unsplash.com/photos/\(id)/download?ixid=T1",
      ],
      "user": ["username": "testa", "name": "Test A", "links": ["html": "https://unsplash.com/@testa"]],
    ]
    for (name, value) in changes { item[name] = value }
    return item
  }

  private static func json(_ value: Any) throws -> String {
    String(decoding: try JSONSerialization.data(withJSONObject: value), as: UTF8.self)
  }

  private static func answer(_ items: [[String: Any]], total: Int = 1, pages: Int = 1) throws -> String {
    try json(["total": total, "total_pages": pages, "results": items] as [String: Any])
  }

  private static func provider(
    _ client: StubHTTPClient, base: String = PhotoService.unsplash().baseURL, clock: ProviderClock = ProviderClock()
  ) throws -> ServiceProvider {
    ServiceProvider(
      .unsplash(), baseURL: try #require(URL(string: base)), key: AccessKey(key), client: client,
      clock: clock)
  }

  private static func error(_ client: StubHTTPClient) async throws -> ProviderError? {
    try await searchError(try provider(client))
  }

  @Test func asksAsTheDocumentationSays() async throws {
    let answer = try Self.answer([])
    let client = StubHTTPClient { request, _ in
      let body = request.url.path.contains("search") ? answer : "[]"
      return .success(HTTPResponse(status: 200, headers: [], body: Data(body.utf8)))
    }
    let provider = try Self.provider(client, base: "http://127.0.0.1:8080/unsplash/")
    _ = try await provider.search(PhotoQuery(" lake & +fog#été ", pageSize: 200), at: PageCursor("3"))
    _ = try await provider.search(PhotoQuery("", pageSize: 10), at: nil)
    _ = try await provider.random(count: 5)
    #expect(
      client.requests.map(\.url.absoluteString) == [
        "http://127.0.0.1:8080/unsplash/search/photos?query=lake%20%26%20%2Bfog%23%C3%A9t%C3%A9&page=3&per_page=30",
        "http://127.0.0.1:8080/unsplash/photos?page=1&per_page=10",
        "http://127.0.0.1:8080/unsplash/photos/random?count=5",
      ])
    let headers = try #require(client.requests.first).headers
    #expect(headers.contains(HTTPHeader("Authorization", "Client-ID \(Self.key)")))
    #expect(headers.contains(HTTPHeader("Accept-Version", "v1")))
  }

  @Test func readsAPhoto() async throws {
    let page = try await Self.provider(StubHTTPClient(try Self.answer([Self.item()])))
      .search(PhotoQuery("fog"), at: nil)
    let photo = try #require(page.photos.first)
    #expect(photo.id == "tst_A1b2C3" && photo.provider == "unsplash" && photo.title == "fog over a pine valley")
    #expect(photo.size == PixelSize(6000, 4000) && photo.author == "Test A")
    #expect(photo.attribution == "Photo by Test A on Unsplash")
    let credit = "?utm_source=thumbs&utm_medium=referral"
    #expect(photo.authorURL?.absoluteString == "https://unsplash.com/@testa\(credit)")
    #expect(photo.pageURL?.absoluteString == "https://unsplash.com/photos/tst_A1b2C3\(credit)")
    #expect(photo.licence?.name == "Unsplash License")
    #expect(photo.downloadLocation?.absoluteString == "https://api.unsplash.com/photos/tst_A1b2C3/download?ixid=T1")
    let source = photo.source(for: PixelSize(400, 400), fit: .cover)
    #expect(
      source.url.absoluteString
        == "https://images.unsplash.com/photo-100-aa?ixid=T1&ixlib=rb-4.1.0&w=600&h=400&fit=max&q=85&fm=jpg&dpr=1")
    #expect(source.headers.isEmpty)
    #expect(source.identity == "unsplash:tst_A1b2C3")
  }

  @Test func theURLOfTheDayDoesNotChangeThePicture() async throws {
    let urls = ["T1", "T2"].map { ["raw": "https://images.unsplash.com/photo-100-aa?ixid=\($0)"] }
    let answers = try urls.map { try Self.answer([Self.item("x", ["urls": $0])]) }
    var sources: [ImageSource] = []
    for answer in answers {
      let page = try await Self.provider(StubHTTPClient(answer)).search(PhotoQuery("x"), at: nil)
      sources += page.photos.map { $0.source(for: PixelSize(sources.isEmpty ? 100 : 200, 100), fit: .cover) }
    }
    #expect(sources[0].url != sources[1].url)
    #expect(sources[0].key == sources[1].key)
  }

  @Test func missingOptionalFieldsDoNoHarm() async throws {
    let item: [String: Any] = [
      "id": "x", "width": 10, "height": 10, "urls": ["raw": "https://images.unsplash.com/x"],
      "user": ["username": "u", "name": NSNull()],
    ]
    let page = try await Self.provider(StubHTTPClient(try Self.answer([item]))).search(PhotoQuery("x"), at: nil)
    let photo = try #require(page.photos.first)
    #expect(photo.title == nil && photo.author == "u" && photo.pageURL == nil && photo.downloadLocation == nil)
  }

  @Test func malformedItemsAreSkippedAndCounted() async throws {
    let items = [
      Self.item("", [:]), Self.item("w", ["width": 0]), Self.item("h", ["height": "tall"]),
      Self.item("u", ["urls": ["raw": "file:///etc/passwd"]]), Self.item("n", ["urls": NSNull()]),
      Self.item("a", ["user": nil]), Self.item("p", ["urls": ["raw": "https://plus.unsplash.com/premium"]]),
      Self.item("big", ["width": Int.max]), Self.item("good"),
    ]
    let page = try await Self.provider(StubHTTPClient(try Self.answer(items))).search(PhotoQuery("x"), at: nil)
    #expect(page.photos.map(\.id) == ["good"])
    #expect(page.skipped.map(\.place) == (1...8).map { "item \($0)" })
    #expect(page.skipped[2].reason == "height is not a number")
    #expect(page.skipped[5].reason == "user is missing")
  }

  @Test func aPageOnlyOfMalformedItemsIsAnError() async throws {
    let client = StubHTTPClient(try Self.answer([Self.item("w", ["width": nil]), Self.item("v", ["width": -1])]))
    let error = try await Self.error(client)
    #expect(error?.code == "malformed")
    #expect(error?.message.contains("width is missing") == true)
  }

  @Test func aPageOnlyOfPaidPhotosIsNoError() async throws {
    let item = Self.item("p", ["urls": ["raw": "https://plus.unsplash.com/premium"]])
    let client = StubHTTPClient(try Self.answer([item], total: 60, pages: 2))
    let page = try await Self.provider(client).search(PhotoQuery("x", pageSize: 1), at: nil)
    #expect(page.photos.isEmpty && page.skipped.count == 1 && page.next == PageCursor("2"))
  }

  @Test(arguments: [
    ("<https://api.unsplash.com/search/photos?page=2>; rel=\"next\"", 1, 1, true),
    ("<https://api.unsplash.com/search/photos?page=1>; rel=\"first\"", 9, 1, false),
    (nil, 2, 1, true), (nil, 1, 1, false),
    // Pages beyond the last of its depth come back with 0 pages: then only a full page promises more.
    (nil, 0, 2, true), (nil, 0, 1, false),
  ])
  func theNextPageIsKnownByLinkThenByTheNumberOfPages(link: String?, pages: Int, items: Int, hasNext: Bool)
    async throws
  {
    let body = try Self.answer((0..<items).map { Self.item("i\($0)") }, total: pages, pages: pages)
    let client = StubHTTPClient(200, body, headers: link.map { [HTTPHeader("link", $0)] } ?? [])
    let page = try await Self.provider(client).search(PhotoQuery("x", pageSize: 2), at: nil)
    #expect((page.next != nil) == hasNext)
  }

  @Test func anEmptyPageIsTheEndAndItsTotalOfNoneIsNotBelieved() async throws {
    let client = StubHTTPClient(
      200, try Self.answer([], total: 0, pages: 0), headers: [HTTPHeader("Link", "<x>; rel=\"next\"")])
    let provider = try Self.provider(client)
    #expect(try await provider.search(PhotoQuery("x"), at: PageCursor("201")) == PhotoPage(photos: [], next: nil))
    #expect(try await provider.search(PhotoQuery("x"), at: nil) == PhotoPage(photos: [], next: nil, total: 0))
  }

  @Test func aUsedUpLimitIsA403InPlainText() async throws {
    for client in [
      StubHTTPClient(403, "Rate Limit Exceeded"),
      StubHTTPClient(403, "no", headers: [HTTPHeader("X-Ratelimit-Remaining", "0")]),
    ] {
      // The clock's hour ends ten minutes later.
      let clock = TestClock(at: 1_800_000_000 + 3000)
      let provider = try Self.provider(client, clock: clock.clock)
      let limited = ProviderError.rateLimited(provider: "unsplash", retryAfter: .seconds(600))
      #expect(try await searchError(provider) == limited)
      #expect(limited.message.hasSuffix("try again in 10 min"))
    }
    #expect(
      try await Self.error(StubHTTPClient(429, retryAfter: .seconds(90)))
        == .rateLimited(provider: "unsplash", retryAfter: .seconds(90)))
    #expect(
      try await Self.error(StubHTTPClient(403, #"{"errors":["Not allowed"]}"#))
        == .blocked(provider: "unsplash", reason: "Not allowed"))
  }

  @Test func everyStatusHasItsMeaning() async throws {
    let body = #"{"errors":["Reason one","two"]}"#
    let codes = [
      400: "bad-request", 401: "unauthorized", 404: "not-found", 410: "bad-request", 422: "bad-request",
      500: "unreachable", 503: "unreachable", 304: "malformed",
    ]
    for (status, code) in codes {
      let error = try await Self.error(StubHTTPClient(status, body))
      #expect(error?.code == code, "\(status)")
    }
    #expect(try await Self.error(StubHTTPClient(400, body))?.message.contains("Reason one, two") == true)
  }

  @Test func anAnswerThatIsNotJSONIsShownInOneLine() async throws {
    let error = try await Self.error(StubHTTPClient("<html>\n <body>Log in\u{202e} to the \u{1b}[31mhotel's network"))
    #expect(
      error?.message == "unsplash answered with something that cannot be read: it is not valid JSON: "
        + "<html> <body>Log in to the [31mhotel's network")
    #expect(try await Self.error(StubHTTPClient(#"{"results": 5}"#))?.code == "malformed")
  }

  @Test func aServerInTroubleIsUnreachableAndACancelledRequestIsCancelled() async throws {
    let down = ProviderError.unreachable(provider: "unsplash", reason: "it answers with status 500, oops")
    #expect(try await Self.error(StubHTTPClient(500, "oops")) == down)
    #expect(try await Self.error(StubHTTPClient { _, _ in .failure(.cancelled) }) == .cancelled)
    #expect(try await Self.error(StubHTTPClient { _, _ in .failure(.unreachable(reason: "x")) })?.code == "unreachable")
  }

  @Test func actualUseIsReportedWithTheKeyToUnsplashOnly() async throws {
    let client = StubHTTPClient(try Self.answer([Self.item("x")]))
    let provider = try Self.provider(client)
    var photo = try #require(try await provider.search(PhotoQuery("x"), at: nil).photos.first)
    try await provider.reportUse(of: photo)
    let report = try #require(client.requests.last)
    #expect(report.url.absoluteString == "https://api.unsplash.com/photos/x/download?ixid=T1")
    #expect(report.headers.contains(HTTPHeader("Authorization", "Client-ID \(Self.key)")))
    photo.downloadLocation = URL(string: "https://elsewhere.example.org/photos/x/download")
    await #expect(throws: ProviderError.self) { try await provider.reportUse(of: photo) }
    photo.downloadLocation = nil
    try await provider.reportUse(of: photo)
    try await FolderProvider(path: "/").reportUse(of: photo)
    #expect(client.requests.count == 2)
  }

  @Test func randomPhotosComeAsAnObjectOrAListOrNotAtAll() async throws {
    #expect(try await Self.provider(StubHTTPClient(try Self.json(Self.item()))).random(count: 1).count == 1)
    #expect(try await Self.provider(StubHTTPClient(try Self.json([Self.item()]))).random(count: 1).count == 1)
    let none = StubHTTPClient(404, #"{"errors":["No photos found."]}"#)
    #expect(try await Self.provider(none).random(count: 1).isEmpty)
    #expect(try await Self.provider(none).random(count: 0).isEmpty)
    #expect(none.requests.count == 1)
  }

  @Test func manyRandomPhotosAreAskedInBatchesAndNeverTwice() async throws {
    let bodies = try [
      Self.json((0..<30).map { Self.item("a\($0)") }), Self.json((20..<30).map { Self.item("a\($0)") }),
      Self.json((0..<10).map { Self.item("b\($0)") }),
    ]
    let client = StubHTTPClient { _, number in
      .success(HTTPResponse(status: 200, headers: [], body: Data(bodies[min(number, 3) - 1].utf8)))
    }
    let photos = try await Self.provider(client).random(count: 40)
    #expect(Set(photos.map(\.id)).count == 40)
    #expect(client.requests.map { $0.url.query() } == ["count=30", "count=10", "count=10"])
    // One that always says the same is given up.
    let stubborn = StubHTTPClient(bodies[1])
    #expect(try await Self.provider(stubborn).random(count: 40).count == 10)
    #expect(stubborn.requests.count == 4)
  }

  @Test func randomPhotosThatCameSurviveALaterFailure() async throws {
    let body = try Self.json((0..<30).map { Self.item("a\($0)") })
    let client = StubHTTPClient { _, number in
      .success(
        HTTPResponse(
          status: number == 1 ? 200 : 403, headers: [], body: Data((number == 1 ? body : "Rate Limit Exceeded").utf8)))
    }
    #expect(try await Self.provider(client).random(count: 60).count == 30)
    await #expect(throws: ProviderError.self) { try await Self.provider(client).random(count: 1) }
  }

  @Test func theKeyIsNeverShown() async throws {
    let provider = try Self.provider(StubHTTPClient(""))
    var dumped = ""
    dump(provider, to: &dumped)
    let echoes = [
      StubHTTPClient("You sent Client-ID \(Self.key)"), StubHTTPClient(403, "no \(Self.key)"),
      StubHTTPClient(500, #"{"errors":["\#(Self.key)"]}"#), StubHTTPClient(400, Self.key),
      StubHTTPClient { _, _ in .failure(.unreachable(reason: "cannot send \(Self.key)")) },
    ]
    var texts = [dumped, "\(provider)", String(reflecting: provider), "\(try #require(AccessKey(Self.key)))"]
    for client in echoes {
      let error = try #require(try await Self.error(client))
      texts += [error.message, "\(error)", String(reflecting: error)]
    }
    for text in texts { #expect(!text.contains(Self.key), "\(text)") }
  }
}
