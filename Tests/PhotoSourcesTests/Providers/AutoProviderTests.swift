import TestSupport

@testable import HTTPTransport
@testable import PhotoSources
@testable import ThumbnailCore

@Suite(.timeLimit(.minutes(5))) struct AutoProviderTests {
  /// Answers with what it was given.
  private struct Fixed: PhotoProvider {
    let name: String
    var capabilities = ProviderCapabilities(searches: true, picksRandom: true)
    let result: Result<PhotoPage, ProviderError>
    let asked = Recorder<PageCursor?>()

    init(_ name: String, _ error: ProviderError) { (self.name, result) = (name, .failure(error)) }
    init(_ name: String, photos: Int, next: String? = nil, picksRandom: Bool = true) {
      capabilities.picksRandom = picksRandom
      self.name = name
      let photos = (0..<photos).map {
        Photo(id: "\($0)", provider: name, title: nil, location: .file(RawPath("/\($0)")))
      }
      result = .success(PhotoPage(photos: photos, next: next.map { PageCursor($0) }))
    }

    func search(_ query: PhotoQuery, at cursor: PageCursor?) async throws(ProviderError) -> PhotoPage {
      asked.append(cursor)
      return try result.get()
    }

    func random(count: Int) async throws(ProviderError) -> [Photo] {
      guard capabilities.picksRandom else { throw .unsupported(provider: name, reason: "it cannot") }
      return try result.get().photos
    }
  }

  private static let refusals: [ProviderError] = [
    .rateLimited(provider: "a", retryAfter: nil), .blocked(provider: "a", reason: "no"),
    .unreachable(provider: "a", reason: "down"),
  ]

  @Test(arguments: refusals) func anotherStandsInForWhoCannotBeHad(error: ProviderError) async throws {
    let second = Fixed("b", photos: 2, next: "p:2")
    let auto = AutoProvider(Fixed("a", error), second)
    #expect(auto.name == "a")
    let page = try await auto.search(PhotoQuery("x"), at: nil)
    #expect(page.photos.map(\.provider) == ["b", "b"])
    #expect(auto.name == "b" && auto.fallbackReason == error.message)
    _ = try await auto.search(PhotoQuery("x"), at: page.next)
    #expect(second.asked.values == [nil, PageCursor("p:2")])
    #expect(try await auto.random(count: 1).count == 2)
  }

  @Test(arguments: [
    ProviderError.badRequest(provider: "a", reason: "x"), .unauthorized(provider: "a"), .cancelled,
    .malformed(provider: "a", snippet: "x"),
  ])
  func nobodyStandsInForOtherErrors(error: ProviderError) async throws {
    let second = Fixed("b", photos: 2)
    let auto = AutoProvider(Fixed("a", error), second)
    #expect(try await searchError(auto) == error)
    #expect(second.asked.values.isEmpty)
  }

  @Test func aLaterPageComesFromTheSameOrNotAtAll() async throws {
    let second = Fixed("b", photos: 2)
    let auto = AutoProvider(Fixed("a", Self.refusals[2]), second)
    #expect(try await searchError(auto, at: PageCursor("a:2")) == Self.refusals[2])
    #expect(try await searchError(auto, at: PageCursor("c:2"))?.code == "bad-request")
    #expect(second.asked.values.isEmpty)
  }

  @Test func whoFindsNothingIsReplacedByWhoDoes() async throws {
    let auto = AutoProvider(Fixed("a", photos: 0), Fixed("b", photos: 1))
    #expect(try await auto.search(PhotoQuery("x"), at: nil).photos.count == 1)
    #expect(auto.name == "b" && auto.fallbackReason?.contains("a has no picture") == true)

    let none = AutoProvider(Fixed("a", photos: 0), Fixed("b", Self.refusals[0]))
    #expect(try await none.search(PhotoQuery("x"), at: nil).photos.isEmpty)
    #expect(none.name == "a" && none.fallbackReason == nil)

  }

  @Test func ofSeveralThatCannotBeHadEachReasonIsTold() async throws {
    let down = AutoProvider(
      Fixed("a", .unreachable(provider: "a", reason: "no network")),
      Fixed("b", .unreachable(provider: "b", reason: "no route")))
    let error = try #require(try await searchError(down))
    #expect(error.code == "none-answers" && error.isUnreachable)
    #expect(
      error.message == "a cannot be reached: no network; b cannot be reached: no route; check the network and the "
        + "address, or try again later")
    let busy = AutoProvider(
      Fixed("a", .rateLimited(provider: "a", retryAfter: .seconds(5400))),
      Fixed("b", .rateLimited(provider: "b", retryAfter: .seconds(40))))
    let other = try #require(try await searchError(busy))
    #expect(!other.isUnreachable && other.mayPass && other.retryAfter == .seconds(40))
    #expect(
      other.message == "a takes no more requests for now; try again in 90 min; b takes no more requests for now; try "
        + "again in 40 s")
  }

  @Test func whoPicksNoPhotosByChanceGivesItsFirst() async throws {
    let second = Fixed("b", photos: 9, picksRandom: false)
    let auto = AutoProvider(Fixed("a", Self.refusals[2]), second)
    #expect(try await auto.random(count: 5).count == 5)
    #expect(auto.name == "b" && second.asked.values == [nil])
  }

  @Test func openverseStandsInForCommons() async throws {
    let openverse = try PhotoServiceOrigin.openverse(lakes(3))
    let clock = TestClock()
    let auto = try ProviderSpecification.auto.provider(
      environment: [:], baseURL: openverse.baseURL.absoluteString,
      client: StubbedCommons(base: loopbackClient()), clock: clock.clock)
    #expect(try await auto.search(PhotoQuery("lake"), at: nil).photos.count == 3)
    #expect(auto.name == "openverse")
  }

  /// A client whose Commons is down.
  private struct StubbedCommons: HTTPClient {
    let base: CurlHTTPClient

    func get(_ request: HTTPRequest) async throws(HTTPClientError) -> HTTPResponse {
      if request.url.path() == "/w/api.php" { throw .unreachable(reason: "down") }
      return try await base.get(request)
    }
  }
}
