@testable import HTTPSemantics
@testable import HTTPTransport
@testable import PipelineTestSupport
@testable import ThumbnailCache
@testable import Thumbnailer

/// Pictures that are not to be had are not asked for again for a time; failures that may pass are: scenario 78.
@Suite(.timeLimit(.minutes(5))) struct RememberedFailureTests {
  @Test(arguments: [true, false], [404, 410])
  func aMissingPictureIsAskedForOnceAnHour(hasDisk: Bool, status: Int) async throws {
    let fixture = try RevalidationFixture({ ($0.status, $0.headers) = (status, []) }) {
      if !hasDisk { $0.diskCacheLimit = ByteSize(bytes: 0) }
    }
    #expect(await fixture.code() == "not-found")
    fixture.clock.advance(by: 3599)
    for size in [PixelSize(40, 40), PixelSize(50, 20)] {
      let error = try #require(await fixture.pipeline.failure(fixture.request(size)))
      #expect(error.code == "not-found")
      #expect(error.message.contains("remembered until") && error.message.contains("(retriesFailures)"))
      #expect(error.message.contains("GMT") && !error.message.contains("\n"))
    }
    if hasDisk { #expect(await fixture.code(of: try fixture.restarted()) == "not-found") }
    #expect(fixture.asked.count == 1)
    #expect(fixture.statistics.rememberedFailures == 2 && fixture.statistics.failures == 3)
    fixture.clock.advance(by: 2)
    fixture.picture.change { $0.status = nil }
    #expect(try await fixture.origin() == .source)
    #expect(fixture.asked.count == 2)
  }

  private static let page = try? TestImages.bytes("broken/html-page.jpg")

  /// No answer is remembered for longer than its server lets it be.
  @Test(
    arguments: [
      ("no-store", 0.0), ("no-cache", 0), ("max-age=0", 0), ("max-age=200", 200), ("max-age=600", 600),
      ("private", 3600), ("max-age=86400", 3600),
    ], [404, 410, 200])
  func theServerMayShortenTheTime(limit: (control: String, seconds: Double), status: Int) async throws {
    let page = try #require(Self.page)
    let fixture = try RevalidationFixture({
      $0.headers = [("Cache-Control", limit.control)]
      ($0.bytes, $0.etag) = (page, nil)
      $0.status = status == 200 ? nil : status
    })
    let code = status == 200 ? "not-a-picture" : "not-found"
    #expect(await fixture.code() == code)
    if limit.seconds > 0 {
      // Far from the end: the time that the answer took counts as well, in real seconds.
      fixture.clock.advance(by: limit.seconds / 4)
      #expect(await fixture.code() == code)
      #expect(await fixture.code(of: try fixture.restarted()) == code)
      #expect(fixture.asked.count == 1)
      fixture.clock.advance(by: limit.seconds * 3 / 4)
    }
    await fixture.expect(code, asked: 2)
  }

  @Test func theAgeAndTheEndOfAnAnswerCountAsWell() async throws {
    let fixture = try RevalidationFixture({ $0.status = 404 })
    fixture.picture.change { $0.headers = [("Cache-Control", "max-age=60"), ("Age", "20")] }
    #expect(await fixture.code() == "not-found")
    fixture.clock.advance(by: 41)
    let end = HTTPDate.text(fixture.clock.now.addingTimeInterval(200))
    fixture.picture.change { $0.headers = [("Expires", end)] }
    #expect(await fixture.code() == "not-found")
    // The time that the answer took counts as well, in real seconds: on a busy machine there are some.
    await fixture.expect("not-found", asked: 2, after: 100)
    await fixture.expect("not-found", asked: 3, after: 100)
  }

  @Test func aPictureThatIsTooLargeIsRememberedForNoLongerThanItsServerSays() async throws {
    let fixture = try RevalidationFixture(configuring: { $0.maximumSourceBytes = ByteSize(bytes: 1000) })
    #expect(await fixture.code() == "too-large")
    // Far from the minute: the time that the answer took counts as well, in real seconds.
    await fixture.expect("too-large", asked: 1, after: 30)
    await fixture.expect("too-large", asked: 2, after: 30)
  }

  /// They tell of a picture that is being made, or that there is none.
  @Test(arguments: [201, 202, 204], [true, false])
  func whatIsNoPictureYetIsNotRememberedByGuess(status: Int, hasExplicitLifetime: Bool) async throws {
    let fixture = try PipelineFixture { _ in
      OriginResponse(status: status, headers: hasExplicitLifetime ? [("Cache-Control", "max-age=600")] : [])
    }
    for _ in 0..<2 {
      #expect(await fixture.pipeline.failure(fixture.request())?.code == "not-a-picture")
    }
    #expect(fixture.origin.requests.count == (hasExplicitLifetime ? 1 : 2))
  }

  @Test(arguments: [201, 202], [true, false])
  func aPictureThatStandsInIsNotKeptByGuess(status: Int, hasExplicitLifetime: Bool) async throws {
    let picture = try TestImages.bytes("formats/jpeg-420.jpg")
    let fixture = try PipelineFixture { _ in
      OriginResponse(
        status: status, headers: hasExplicitLifetime ? [("Cache-Control", "max-age=600")] : [], body: Array(picture))
    }
    for isFirst in [true, false] {
      let response = try await fixture.pipeline.response(for: fixture.request())
      #expect(
        response.isStored == hasExplicitLifetime && (response.origin == .source) == (isFirst || !hasExplicitLifetime))
    }
  }

  @Test func whoTriesAgainClearsTheMemory() async throws {
    let fixture = try RevalidationFixture({ $0.status = 404 })
    #expect(await fixture.code() == "not-found")
    fixture.picture.change { $0.status = 503 }
    let trying = try await fixture.restarted { $0.retriesFailures = true }
    #expect(await fixture.code(of: trying) == "server-failed")
    await trying.flush()
    fixture.picture.change { $0.status = nil }
    #expect(try await fixture.origin(of: fixture.restarted()) == .source)
  }

  @Test func aSuccessClearsTheMemory() async throws {
    let fixture = try RevalidationFixture({ $0.status = 404 })
    #expect(await fixture.code() == "not-found")
    fixture.picture.change { $0.status = nil }
    let trying = try await fixture.restarted { $0.retriesFailures = true }
    #expect(try await fixture.origin(of: trying) == .source)
    await trying.flush()
    let restarted = try await fixture.restarted()
    #expect(try await fixture.origin(of: restarted) == .disk)
    #expect(try await fixture.origin(PixelSize(100, 20), of: restarted) == .source)
  }

  @Test(arguments: [401, 403, 408, 429, 500, 503]) func whatMayPassIsNotRemembered(status: Int) async throws {
    let fixture = try RevalidationFixture({ $0.status = status })
    for _ in 0..<2 { #expect(await fixture.code() != nil) }
    fixture.picture.change { $0.status = nil }
    #expect(try await fixture.origin() == .source)
    #expect(fixture.statistics.rememberedFailures == 0)
  }

  @Test func aNetworkThatIsNotThereIsNotRemembered() async throws {
    let fixture = try RevalidationFixture()
    let port = fixture.fixture.origin.port
    let offline = try await fixture.restarted { $0.cacheMode = .offline }
    #expect(await fixture.code(of: offline) == "offline-miss")
    let closed = try Origin { _ in .status(404) }
    closed.stop()
    let unreachable = ThumbnailRequest(
      ImageSource(closed.url("/a.jpg")), variant: Variant(size: PixelSize(40, 40), fit: .cover))
    await #expect(throws: ThumbnailError.self) { _ = try await fixture.pipeline.thumbnail(for: unreachable) }
    let broken = try await fixture.restarted { $0.proxy = .url("http://127.0.0.1:1") }
    #expect(await fixture.code(of: broken) == "unreachable")
    await broken.flush()
    let database = try DiskCache(directory: fixture.fixture.directory.url, byteLimit: nil)
    for request in [fixture.request(), unreachable] {
      #expect(try database.history(of: request.source.key).failures.isEmpty)
    }
    #expect(port > 0)
    #expect(try await fixture.origin() == .source)
  }

  @Test func aPictureThatIsTooLargeIsTriedAgainUnderAHigherLimit() async throws {
    let fixture = try RevalidationFixture(configuring: { $0.maximumSourceBytes = ByteSize(bytes: 1000) })
    for _ in 0..<2 { #expect(await fixture.code() == "too-large") }
    #expect(fixture.asked.count == 1)
    let lower = try await fixture.restarted { $0.maximumSourceBytes = ByteSize(bytes: 900) }
    #expect(await fixture.code(of: lower) == "too-large")
    #expect(fixture.asked.count == 1)
    #expect(try await fixture.origin(of: fixture.restarted()) == .source)
    #expect(fixture.asked.count == 2)
  }

  @Test func aPictureOfTooManyPixelsIsTriedAgainUnderAHigherLimit() async throws {
    let fixture = try RevalidationFixture(configuring: { $0.maximumPixels = 100 })
    fixture.picture.change { $0.headers = [] }
    for _ in 0..<2 { #expect(await fixture.code() == "too-large") }
    #expect(fixture.asked.count == 1)
    await fixture.expect("too-large", asked: 1, after: 86_399)
    #expect(try await fixture.origin(of: fixture.restarted { $0.maximumPixels = 1 << 20 }) == .source)
  }

  @Test func aPictureThatCostsTooMuchMemoryInAnySizeIsTriedAgainUnderAHigherBudget() async throws {
    let dear = try TestImages.bytes("broken/claims-16383x16383-lossless.webp")
    let fixture = try RevalidationFixture({ $0.bytes = dear }) { $0.memoryBudget = .mebibytes(16) }
    for size in [PixelSize(40, 40), PixelSize(50, 20)] { #expect(await fixture.code(size) == "too-large") }
    #expect(fixture.asked.count == 1 && fixture.statistics.rememberedFailures == 1)
    #expect(await fixture.code(of: try fixture.restarted { $0.memoryBudget = .mebibytes(16) }) == "too-large")
    #expect(fixture.asked.count == 1)
    #expect(await fixture.code(of: try fixture.restarted { $0.memoryBudget = .mebibytes(512) }) != nil)
    #expect(fixture.asked.count == 2)
  }

  @Test func aSizeThatCostsTooMuchMemorySaysNothingOfOthers() async throws {
    let picture = try TestImages.bytes("gallery/alps/spring-meadow.jpg")
    let fixture = try RevalidationFixture({ $0.bytes = picture }) { $0.memoryBudget = .mebibytes(16) }
    let large = ThumbnailRequest(
      fixture.request().source, variant: Variant(size: PixelSize(2900, 1900), fit: .cover, format: .avif))
    for _ in 0..<2 {
      await #expect(throws: ThumbnailError.self) { _ = try await fixture.pipeline.thumbnail(for: large) }
    }
    #expect(fixture.statistics.rememberedFailures == 0)
    #expect(try await fixture.origin() == .source)
  }

  @Test func aPageInThePlaceOfAPictureThatWasThereIsNotRemembered() async throws {
    let page = try TestImages.bytes("broken/html-page.jpg")
    let fixture = try RevalidationFixture()
    let picture = try TestImages.bytes("formats/jpeg-420.jpg")
    try await fixture.fetch(thenWait: 61)
    // As at a network that wants a login first.
    fixture.picture.change { ($0.bytes, $0.etag) = (page, nil) }
    #expect(await fixture.code() == "not-a-picture")
    fixture.picture.change { ($0.bytes, $0.etag) = (picture, "\"one\"") }
    #expect(try await fixture.origin() == .revalidated)
  }

  @Test func aClockThatWasSetBackDoesNotKeepAFailureForEver() async throws {
    let fixture = try RevalidationFixture({ $0.status = 404 })
    #expect(await fixture.code() == "not-found")
    fixture.clock.advance(by: -1e9)
    fixture.picture.change { $0.status = nil }
    #expect(try await fixture.origin() == .source)
  }

  @Test func aMissingFileIsLookedForEveryTime() async throws {
    let fixture = try RevalidationFixture()
    let path = fixture.fixture.directory.url.appendingPathComponent("later.jpg").path
    let variant = Variant(size: PixelSize(40, 40), fit: .cover)
    await #expect(throws: ThumbnailError.self) {
      _ = try await fixture.pipeline.thumbnail(for: ThumbnailRequest(.file(at: path), variant: variant))
    }
    try FileManager.default.copyItem(atPath: TestImages.url("formats/jpeg-420.jpg").path, toPath: path)
    _ = try await fixture.pipeline.thumbnail(for: ThumbnailRequest(.file(at: path), variant: variant))
  }

  @Test func forgettingAPictureForgetsItsFailureToo() async throws {
    let fixture = try RevalidationFixture({ $0.status = 404 })
    #expect(await fixture.code() == "not-found")
    await fixture.pipeline.remove(fixture.request().source)
    fixture.picture.change { $0.status = nil }
    #expect(try await fixture.origin() == .source)
  }
}
