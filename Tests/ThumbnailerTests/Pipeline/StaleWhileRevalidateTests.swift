@testable import PipelineTestSupport
@testable import Thumbnailer

/// What a server lets be used while it is asked is handed out at once and asked about behind.
@Suite(.timeLimit(.minutes(5))) struct StaleWhileRevalidateTests {
  private static let control = "max-age=60, stale-while-revalidate=100"

  /// A picture that was fetched and has expired.
  private func stale(
    _ control: String = control, sizes: [PixelSize] = [PixelSize(40, 40)], gate: Gate? = nil,
    configuring configure: (inout ThumbnailPipeline.Configuration) -> Void = { _ in }
  ) async throws -> RevalidationFixture {
    let fixture = try RevalidationFixture(
      { $0.headers = [("Cache-Control", control)] }, gate: gate, configuring: configure)
    for size in sizes { _ = try await fixture.origin(size) }
    fixture.clock.advance(by: 61)
    return fixture
  }

  @Test(arguments: [true, false]) func itIsHandedOutAtOnceAndConfirmedBehind(hasDisk: Bool) async throws {
    let gate = Gate()
    let sizes = [PixelSize(40, 40), PixelSize(50, 20)]
    let stale = try await stale(sizes: sizes, gate: gate) {
      if !hasDisk { $0.diskCacheLimit = ByteSize(bytes: 0) }
    }
    let fixture = stale.fixture
    let before = stale.asked.count
    // While the server is asked everybody is served, whichever size they want, and it is asked once.
    for _ in 0..<3 {
      for size in sizes {
        #expect(try await fixture.pipeline.response(for: fixture.request("/a.jpg", size)).origin == .stale)
      }
    }
    await poll { fixture.origin.requests.count == before + 1 }
    gate.open()
    await fixture.pipeline.finishRevalidations()
    #expect(fixture.pipeline.activeJobs == 0)
    for size in sizes {
      #expect(try await fixture.pipeline.response(for: fixture.request("/a.jpg", size)).origin == .memory)
    }
    let statistics = fixture.pipeline.statistics
    #expect(fixture.origin.requests.count == before + statistics.revalidations && statistics.failures == 0)
    #expect(statistics.servedWhileRevalidating == 6 && statistics.servedStale == 0 && statistics.joins == 0)
    await poll { fixture.recorder.kinds.contains { if case .servedWhileRevalidating = $0 { true } else { false } } }
  }

  @Test func whatHasChangedIsMadeAnewBehind() async throws {
    let fixture = try await stale(sizes: [PixelSize(40, 40), PixelSize(50, 20)])
    try fixture.picture.replace()
    let old = try await fixture.pipeline.response(for: fixture.request())
    await fixture.pipeline.finishRevalidations()
    let new = try await fixture.pipeline.response(for: fixture.request())
    #expect(old.origin == .stale && new.origin == .memory && old.thumbnail.data != new.thumbnail.data)
    #expect(fixture.statistics.replacements == 1)
    #expect(try await fixture.origin(PixelSize(50, 20)) == .source)
    #expect(try await fixture.origin(of: fixture.restarted()) == .disk)
  }

  @Test func itIsKnownAfterARestart() async throws {
    let fixture = try await stale()
    let restarted = try await fixture.restarted()
    #expect(try await fixture.origin(of: restarted) == .stale)
    await restarted.finishRevalidations()
    #expect(try await fixture.origin(of: restarted) == .memory)
    #expect(fixture.asked == ["-", "\"one\""])
  }

  @Test(arguments: [
    "max-age=60, stale-while-revalidate=1", "max-age=60, stale-while-revalidate=100, must-revalidate",
    "no-cache, stale-while-revalidate=100", "max-age=60, stale-while-revalidate", "max-age=60",
  ])
  func withoutLeaveTheServerIsWaitedFor(control: String) async throws {
    #expect(try await stale(control).origin() == .revalidated)
  }

  @Test(arguments: [CacheMode.refresh, .maximumAge(.seconds(30))])
  func theUserGoesBeforeTheServer(mode: CacheMode) async throws {
    let fixture = try await stale()
    #expect(try await fixture.origin(of: fixture.restarted { $0.cacheMode = mode }) == .revalidated)
  }

  @Test func aServerThatFailsThenIsNobodysError() async throws {
    let fixture = try await stale()
    fixture.picture.change { $0.status = 503 }
    for _ in 0..<2 {
      #expect(try await fixture.origin() == .stale)
      await fixture.pipeline.finishRevalidations()
    }
    #expect(fixture.asked.count == 3 && fixture.statistics.failures == 0 && fixture.statistics.servedStale == 0)
    await poll {
      fixture.fixture.recorder.kinds.contains { if case .revalidationFailed = $0 { true } else { false } }
    }
  }

  @Test func aPictureThatIsGoneIsNotHandedOutTwice() async throws {
    let fixture = try await stale()
    fixture.picture.change { $0.status = 404 }
    #expect(try await fixture.origin() == .stale)
    await fixture.pipeline.finishRevalidations()
    #expect(await fixture.code() == "not-found")
    #expect(fixture.statistics.failures == 1)
  }

  @Test func beyondTheMostThatAreAskedAboutTheServerIsWaitedFor() async throws {
    let gate = Gate()
    // On a busy machine it may be long until all of them are held.
    let stale = try await stale(sizes: [], gate: gate) {
      $0.stallTimeout = .seconds(200)
      $0.mostRevalidations = 8
    }
    let fixture = stale.fixture
    let requests = (0...8).map { fixture.request("/\($0).jpg", PixelSize(9, 9)) }
    for request in requests { _ = try await fixture.pipeline.thumbnail(for: request) }
    stale.clock.advance(by: 61)
    for request in requests.dropLast() {
      #expect(try await fixture.pipeline.response(for: request).origin == .stale)
    }
    let last = Task { try await fixture.pipeline.response(for: requests[requests.count - 1]).origin }
    // Six are at the server. The last one waits behind the other two: it is not served by what is stored.
    await poll { fixture.pipeline.waitingDownloads == requests.count - 6 }
    gate.open()
    #expect(try await last.value == .revalidated)
    await fixture.pipeline.finishRevalidations()
    #expect(fixture.pipeline.statistics.revalidations == requests.count)
  }

  @Test func whoIsCancelledWaitingDropsThem() async throws {
    let gate = Gate()
    let stale = try await stale(gate: gate)
    let fixture = stale.fixture
    #expect(try await stale.origin() == .stale)
    await poll { fixture.origin.requests.count == 2 }
    let waiting = Task { await fixture.pipeline.finishRevalidations() }
    waiting.cancel()
    await waiting.value
    #expect(fixture.pipeline.activeJobs == 0)
    gate.open()
  }
}
