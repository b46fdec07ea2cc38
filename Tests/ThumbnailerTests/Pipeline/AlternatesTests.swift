@testable import PipelineTestSupport
@testable import Thumbnailer

/// Pictures that are to be had at several places.
@Suite(.timeLimit(.minutes(5))) struct AlternatesTests {
  private let variant = Variant(size: PixelSize(40, 40), fit: .cover)

  private func request(_ fixture: PipelineFixture, _ paths: String...) -> ThumbnailRequest {
    let urls = paths.map { fixture.origin.url($0) }
    return ThumbnailRequest(
      ImageSource(
        urls[0], headers: [HTTPHeader("Authorization", "mine")], identity: "lasting",
        alternates: Array(urls.dropFirst())), variant: variant)
  }

  @Test(arguments: [404, 410, 424, 400, 403, 503])
  func theNextPlaceIsAskedWhenOneDoesNotGiveThePicture(status: Int) async throws {
    let picture = try TestImages.bytes("formats/jpeg-420.jpg")
    let fixture = try PipelineFixture { $0.path == "/good" ? .ok(picture) : .status(status) }
    let thumbnail = try await fixture.pipeline.thumbnail(for: request(fixture, "/bad", "/worse", "/good"))
    #expect(thumbnail.size == PixelSize(40, 40))
    #expect(NSOrderedSet(array: fixture.origin.requests.map(\.path)).array as? [String] == ["/bad", "/worse", "/good"])
    // It is the same picture wherever it came from.
    _ = try await fixture.pipeline.thumbnail(for: request(fixture, "/other"))
    #expect(fixture.origin.requests(for: "/other").isEmpty)
  }

  @Test func whoeverIsAskedToPauseGoesToTheNextPlace() async throws {
    let fixture = try PipelineFixture(configuring: { $0.attempts = 4 }) {
      $0.path == "/good" ? .picture : .tooManyRequests(retryAfter: "50")
    }
    let source = ImageSource(
      fixture.origin.url("/bad"),
      alternates: [fixture.origin.url("/worse"), fixture.origin.url("/good", host: "localhost")])
    _ = try await fixture.pipeline.thumbnail(for: ThumbnailRequest(source, variant: variant))
    #expect(fixture.origin.requests.map(\.path) == ["/bad", "/worse", "/good"])
  }

  @Test func onlyTheLastPlaceIsAskedAgainAndAgain() async throws {
    let fixture = try PipelineFixture(configuring: { $0.attempts = 3 }) { _ in .status(503) }
    await #expect(throws: ThumbnailError.serverFailed(status: 503)) {
      try await fixture.pipeline.thumbnail(for: request(fixture, "/a", "/b"))
    }
    #expect(fixture.origin.requests(for: "/a").count == 2)
    #expect(fixture.origin.requests(for: "/b").count == 3)
  }

  @Test(arguments: [("/a", 503), ("/b", 503), ("/a", 403), ("/b", 403)])
  func thatOnePlaceHasNoPictureSaysNothingWhileAnotherCannotBeAsked(path: String, status: Int) async throws {
    let isBack = Mutex(false)
    let fixture = try PipelineFixture { request in
      if isBack.withLock({ $0 }) { return .picture }
      return .status(request.path == path ? status : 404)
    }
    let request = request(fixture, "/a", "/b")
    let error = await failure(of: Task { try await fixture.pipeline.thumbnail(for: request) })
    #expect(error?.code == (status == 503 ? "server-failed" : "refused"))
    // Nor is it remembered.
    isBack.withLock { $0 = true }
    _ = try await fixture.pipeline.thumbnail(for: request)
  }

  @Test func aPictureThatCameFromTheNextPlaceIsAskedAboutThere() async throws {
    let clock = WallClock()
    let picture = try ChangingPicture()
    let fixture = try PipelineFixture(configuring: { $0.now = { clock.now } }) { request in
      request.path == "/a" ? .status(404) : picture.answer(request)
    }
    let request = request(fixture, "/a", "/b")
    _ = try await fixture.pipeline.thumbnail(for: request)
    clock.advance(by: 61)
    #expect(try await fixture.pipeline.response(for: request).origin == .revalidated)
    #expect(fixture.origin.requests.map(\.path) == ["/a", "/b", "/a", "/b"])
    let tags = fixture.origin.requests.map { $0.request.value(of: "If-None-Match") }
    #expect(tags == [nil, nil, nil, "\"one\""])
    // Gone from all places, it is not kept.
    picture.change { $0.status = 404 }
    clock.advance(by: 61)
    let error = await failure(of: Task { try await fixture.pipeline.thumbnail(for: request) })
    #expect(error?.code == "not-found")
    await fixture.pipeline.flush()
    #expect(fixture.pipeline.cachedThumbnail(for: request.key) == nil)
  }

  @Test func whatNoPlaceHasIsRemembered() async throws {
    let fixture = try PipelineFixture { _ in .status(404) }
    let request = request(fixture, "/a", "/b")
    for _ in 1...2 {
      let error = await failure(of: Task { try await fixture.pipeline.thumbnail(for: request) })
      #expect(error?.code == "not-found")
    }
    #expect(fixture.origin.requests.map(\.path) == ["/a", "/b"])
  }

  @Test func aBadPictureIsNotLookedForElsewhere() async throws {
    let fixture = try PipelineFixture { _ in .ok(Array("<html>hello</html>".utf8)) }
    await #expect(throws: ThumbnailError.self) {
      try await fixture.pipeline.thumbnail(for: request(fixture, "/a", "/b"))
    }
    #expect(fixture.origin.requests.map(\.path) == ["/a"])
  }

  @Test func credentialsStayWithTheirHost() async throws {
    let elsewhere = try Origin.picture()
    let fixture = try PipelineFixture { _ in .status(404) }
    let source = ImageSource(
      fixture.origin.url("/a"), headers: [HTTPHeader("Authorization", "mine")],
      alternates: [fixture.origin.url("/b"), elsewhere.url("/c")])
    _ = try await fixture.pipeline.thumbnail(for: ThumbnailRequest(source, variant: variant))
    #expect(fixture.origin.requests.allSatisfy { $0.request.value(of: "Authorization") == "mine" })
    #expect(fixture.origin.requests.map(\.path) == ["/a", "/b"])
    #expect(elsewhere.requests.map { $0.request.value(of: "Authorization") } == [nil])
  }

  @Test func aServerIsNotAskedForMoreAtOnceThanItWants() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture { _ in .picture.held(by: gate) }
    let requests = (0..<5).map {
      ThumbnailRequest(ImageSource(fixture.origin.url("/\($0)"), downloadsPerHost: 2), variant: variant)
    }
    let run = Task {
      var count = 0
      for await (_, result) in fixture.pipeline.thumbnails(for: requests) where (try? result.get()) != nil {
        count += 1
      }
      return count
    }
    await poll { fixture.pipeline.waitingDownloads == 3 && fixture.origin.runningRequests == 2 }
    gate.open()
    #expect(await run.value == 5)
    #expect(fixture.origin.maximumSimultaneousRequests == 2)
  }
}
