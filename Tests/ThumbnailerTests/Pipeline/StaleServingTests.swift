@testable import PipelineTestSupport
@testable import ThumbnailCache
@testable import Thumbnailer

/// What is out of date stands in while its server is down, unless somebody has forbidden that.
@Suite(.timeLimit(.minutes(5))) struct StaleServingTests {
  /// A picture that was fetched and has expired.
  private func stale(
    _ control: String = "max-age=60",
    configuring configure: (inout ThumbnailPipeline.Configuration) -> Void = { _ in }
  ) async throws -> RevalidationFixture {
    let fixture = try RevalidationFixture({ $0.headers = [("Cache-Control", control)] }, configuring: configure)
    try await fixture.fetch(thenWait: 61)
    return fixture
  }

  @Test(arguments: [500, 502, 503, 504, 429]) func aServerThatFailsLeavesWhatIsStoredGood(status: Int) async throws {
    let fixture = try await stale()
    fixture.picture.change { $0.status = status }
    #expect(try await fixture.origin() == .stale)
    #expect(try await fixture.origin(of: fixture.restarted()) == .stale)
    #expect(fixture.statistics.servedStale == 1 && fixture.statistics.failures == 0)
    await poll {
      fixture.fixture.recorder.kinds.contains {
        if case .servedStale(let variants, _) = $0 { variants.count == 1 } else { false }
      }
    }
    fixture.picture.change { $0.status = nil }
    #expect(try await fixture.origin() == .revalidated)
  }

  @Test func aServerThatCannotBeReachedLeavesWhatIsStoredGood() async throws {
    let fixture = try await stale()
    fixture.fixture.origin.stop()
    #expect(try await fixture.origin() == .stale)
    // What is not stored still fails.
    let variants = [PixelSize(40, 40), PixelSize(100, 20)].map { Variant(size: $0, fit: .cover) }
    let results = await fixture.pipeline.responses(for: fixture.request().source, variants: variants)
    #expect(try results[0].get().origin == .stale)
    #expect(throws: ThumbnailError.self) { try results[1].get() }
    #expect(await fixture.code(PixelSize(100, 20)) == "unreachable")
  }

  @Test func aServerThatIsDownIsNotAskedTwiceBeforeWhatIsStoredIsServed() async throws {
    let fixture = try await stale { $0.attempts = 4 }
    fixture.picture.change { $0.status = 503 }
    #expect(try await fixture.origin() == .stale)
    #expect(fixture.asked.count == 2)
  }

  @Test func whoAsksAgainAtOnceIsServedAgain() async throws {
    let fixture = try await stale()
    fixture.fixture.origin.stop()
    for _ in 1...50 { #expect(try await fixture.origin() == .stale) }
  }

  @Test func aServerWhoseErrorsMustBeToldGetsTheUsualAttempts() async throws {
    let fixture = try await stale("max-age=60, stale-if-error=0") { $0.attempts = 2 }
    fixture.picture.change { $0.status = 503 }
    await fixture.expect("server-failed", asked: 3)
  }

  @Test func aServerThatFallsSilentLeavesWhatIsStoredGood() async throws {
    let fixture = try RevalidationFixture(gate: Gate())
    try await fixture.fetch(thenWait: 61)
    // Real time: only has to pass. Only who is left without an answer has little patience.
    let impatient = try await fixture.restarted { $0.stallTimeout = .milliseconds(300) }
    #expect(try await fixture.origin(of: impatient) == .stale)
  }

  @Test(arguments: ["max-age=60, must-revalidate", "no-cache", "max-age=60, stale-if-error=0"])
  func whoForbidsThatIsObeyed(control: String) async throws {
    let fixture = try await stale(control)
    fixture.picture.change { $0.status = 503 }
    #expect(await fixture.code() == "server-failed")
    fixture.picture.change { $0.status = nil }
    #expect(try await fixture.origin() == .revalidated)
  }

  @Test func theTimeThatTheServerAllowsIsKept() async throws {
    let fixture = try await stale("max-age=60, stale-if-error=100")
    fixture.picture.change { $0.status = 503 }
    #expect(try await fixture.origin() == .stale)
    fixture.clock.advance(by: 100)
    #expect(await fixture.code() == "server-failed")
  }

  @Test func whoRefreshesHearsOfTheFailure() async throws {
    let fixture = try await stale()
    fixture.picture.change { $0.status = 503 }
    #expect(await fixture.code(of: try fixture.restarted { $0.cacheMode = .refresh }) == "server-failed")
  }

  @Test(arguments: [(401, "refused"), (403, "refused"), (404, "not-found"), (410, "not-found")])
  func aServerThatSaysNoIsBelieved(status: Int, code: String) async throws {
    let fixture = try await stale()
    fixture.picture.change { $0.status = status }
    #expect(await fixture.code() == code)
    // A picture that is gone is not shown when its server is down later on, either.
    await fixture.pipeline.flush()
    let disk = try DiskCache(directory: fixture.fixture.directory.url, byteLimit: nil)
    #expect(try disk.statistics().thumbnails == (code == "not-found" ? 0 : 1))
  }

  @Test func everybodyWhoWaitsIsServed() async throws {
    let gate = Gate()
    let stale = try RevalidationFixture(gate: gate)
    let fixture = stale.fixture
    let sizes = [PixelSize(40, 40), PixelSize(50, 20)]
    for size in sizes { _ = try await stale.origin(size) }
    stale.clock.advance(by: 61)
    stale.picture.change { $0.status = 503 }
    let first = Task { try await stale.origin(sizes[0]) }
    await poll { fixture.origin.runningRequests == 1 && fixture.pipeline.activeJobs == 1 }
    let second = Task { try await stale.origin(sizes[1]) }
    await poll { fixture.pipeline.statistics.joins == 1 }
    gate.open()
    #expect(try await first.value == .stale)
    #expect(try await second.value == .stale)
    #expect(fixture.pipeline.activeJobs == 0)
  }
}
