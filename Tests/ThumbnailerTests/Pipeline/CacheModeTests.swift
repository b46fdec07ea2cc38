@testable import HTTPTransport
@testable import PipelineTestSupport
@testable import Thumbnailer

/// What the user says against what the server said: refresh, an age, offline. Scenario 75.
@Suite(.timeLimit(.minutes(5))) struct CacheModeTests {
  @Test func anAgeTakesThePlaceOfTheServersWord() async throws {
    let fixture = try RevalidationFixture({ $0.headers = [("Cache-Control", "no-cache")] }) {
      $0.cacheMode = .maximumAge(.seconds(100))
    }
    try await fixture.fetch(thenWait: 99)
    #expect(try await fixture.origin() == .memory)
    fixture.clock.advance(by: 2)
    #expect(try await fixture.origin() == .revalidated)
    #expect(try await fixture.origin(of: fixture.restarted { $0.cacheMode = .maximumAge(.seconds(1)) }) == .disk)
    #expect(try await fixture.origin(of: fixture.restarted { $0.cacheMode = .maximumAge(.zero) }) == .revalidated)
  }

  @Test func ofAPictureWithSeveralURLsTheLastConfirmationCounts() async throws {
    let fixture = try RevalidationFixture({ $0.headers = [("Cache-Control", "max-age=86400")] })
    func request(_ path: String, _ size: PixelSize = PixelSize(40, 40)) -> ThumbnailRequest {
      ThumbnailRequest(
        ImageSource(fixture.fixture.origin.url(path), identity: "photo"), variant: Variant(size: size, fit: .cover))
    }
    _ = try await fixture.pipeline.thumbnail(for: request("/small.jpg"))
    _ = try await fixture.pipeline.thumbnail(for: request("/large.jpg", PixelSize(100, 20)))
    // From now on it holds for less long than what is known of the other URL.
    fixture.picture.change { $0.headers = [("Cache-Control", "max-age=500")] }
    for mode in [CacheMode.maximumAge(.seconds(60)), .refresh] {
      fixture.clock.advance(by: 3600)
      // Nothing is kept in memory, as where pictures are fetched ahead.
      let pipeline = try await fixture.restarted {
        $0.cacheMode = mode
        $0.memoryCacheLimit = ByteSize(bytes: 0)
      }
      #expect(try await pipeline.response(for: request("/large.jpg")).origin == .revalidated, "\(mode)")
      #expect(try await pipeline.response(for: request("/large.jpg")).origin == .disk, "\(mode)")
      await pipeline.flush()
    }
    #expect(fixture.asked == ["-", "-", "\"one\"", "\"one\""])
  }

  @Test func aNegativeAgeIsRefused() {
    var configuration = ThumbnailPipeline.Configuration()
    configuration.cacheMode = .maximumAge(.seconds(-1))
    #expect(throws: ThumbnailError.self) { _ = try ThumbnailPipeline(configuration) }
  }

  @Test func offlineWhatIsStoredIsServedHoweverOldAndTheRestIsMissed() async throws {
    let fixture = try RevalidationFixture({ $0.headers = [("Cache-Control", "no-cache, must-revalidate")] })
    let stored = try await fixture.pipeline.thumbnail(for: fixture.request(PixelSize(100, 100)))
    fixture.clock.advance(by: 1e9)
    let offline = try await fixture.restarted { $0.cacheMode = .offline }
    let hit = try await offline.response(for: fixture.request(PixelSize(100, 100)))
    #expect(hit.origin == .disk && hit.thumbnail == stored)
    #expect(try await fixture.origin(PixelSize(100, 100), of: offline) == .memory)
    #expect(try await fixture.origin(PixelSize(40, 40), of: offline) == .shrunk)
    #expect(await fixture.code(PixelSize(100, 20), of: offline) == "offline-miss")
    let other = ThumbnailRequest(
      ImageSource(fixture.fixture.origin.url("/other")), variant: Variant(size: PixelSize(9, 9), fit: .cover))
    await #expect(throws: ThumbnailError.notCached) { _ = try await offline.response(for: other) }
    #expect(fixture.asked.count == 1)
    #expect(offline.statistics.offlineMisses == 2 && offline.statistics.failures == 2)
    #expect(offline.statistics.rememberedFailures == 0)
  }

  @Test func offlineLocalFilesAreReadAndSearchesAreNot() async throws {
    let fixture = try RevalidationFixture(configuring: { $0.cacheMode = .offline })
    let file = ThumbnailRequest(
      .file(at: TestImages.url("formats/jpeg-420.jpg").path), variant: Variant(size: PixelSize(40, 40), fit: .cover))
    #expect(try await fixture.pipeline.response(for: file).origin == .source)
    await #expect(throws: HTTPClientError.self) {
      _ = try await fixture.pipeline.httpClient.get(HTTPRequest(url: fixture.fixture.origin.url("/search")))
    }
    #expect(fixture.asked.isEmpty)
  }
}
