@testable import PipelineTestSupport
@testable import Thumbnailer

/// What one request wants otherwise than the pipeline.
@Suite(.timeLimit(.minutes(5))) struct RequestOptionsTests {
  private func request(
    _ fixture: RevalidationFixture, _ mode: CacheMode?, _ size: PixelSize = PixelSize(40, 40)
  ) -> ThumbnailRequest {
    var request = fixture.request(size)
    request.options.cacheMode = mode
    return request
  }

  private func request(_ fixture: PipelineFixture, _ mode: CacheMode) -> ThumbnailRequest {
    var request = fixture.request()
    request.options.cacheMode = mode
    return request
  }

  @Test func aRefreshRevalidatesWhatIsFreshAndTheNextRequestDoesNot() async throws {
    let fixture = try RevalidationFixture()
    try await fixture.fetch(thenWait: 1)
    #expect(try await fixture.pipeline.response(for: request(fixture, .refresh)).origin == .revalidated)
    #expect(try await fixture.origin() == .memory)
    try fixture.picture.replace()
    fixture.clock.advance(by: 1)
    let replaced = try await fixture.pipeline.response(for: request(fixture, .refresh))
    #expect(replaced.origin == .source)
    #expect(try await fixture.pipeline.response(for: fixture.request()).thumbnail == replaced.thumbnail)
    #expect(fixture.asked == ["-", "\"one\"", "\"one\""])
  }

  @Test func anOfflineRequestDoesNotJoinARunningDownload() async throws {
    let gate = Gate()
    let fixture = try heldFixture(gate)
    async let standard = fixture.pipeline.thumbnail(for: fixture.request())
    await poll { fixture.origin.requests.count == 1 }
    var offline = fixture.request()
    offline.options.cacheMode = .offline
    await #expect(throws: ThumbnailError.notCached) { _ = try await fixture.pipeline.thumbnail(for: offline) }
    gate.open()
    _ = try await standard
    #expect(fixture.origin.requests.count == 1 && fixture.pipeline.statistics.joins == 0)
  }

  @Test func aStandardRequestDoesNotJoinAnOfflineOne() async throws {
    let fixture = try PipelineFixture(configuring: { $0.cacheMode = .offline }) { _ in
      .ok((try? TestImages.bytes("formats/jpeg-420.jpg")) ?? Data())
    }
    let standard = request(fixture, .standard)
    async let offline = fixture.pipeline.response(for: fixture.request())
    async let online = fixture.pipeline.response(for: standard)
    _ = try? await offline
    #expect(try await online.origin == .source)
  }

  @Test func aRefreshDoesNotJoinADownloadThatBeganBeforeIt() async throws {
    let gate = Gate()
    let fixture = try heldFixture(gate)
    async let standard = fixture.pipeline.thumbnail(for: fixture.request())
    await poll { fixture.origin.requests.count == 1 }
    let refreshing = request(fixture, .refresh)
    async let first = fixture.pipeline.thumbnail(for: refreshing)
    await poll { fixture.origin.requests.count == 2 }
    async let second = fixture.pipeline.thumbnail(for: refreshing)
    await poll { fixture.pipeline.statistics.joins == 1 }
    gate.open()
    let thumbnails = try await [standard, first, second]
    #expect(Set(thumbnails.map(\.data)).count == 1)
    #expect(fixture.origin.requests.count == 2 && fixture.pipeline.activeJobs == 0)
  }

  @Test func whatMayNotBeStoredIsNeitherReadNorStored() async throws {
    let fixture = try RevalidationFixture()
    let unstored = try await fixture.pipeline.response(for: request(fixture, .noStore))
    #expect(unstored.origin == .source && !unstored.isStored)
    #expect(fixture.pipeline.cachedThumbnail(for: fixture.request().key) == nil)
    await fixture.pipeline.flush()
    #expect(try await fixture.origin() == .source)
    #expect(try await fixture.pipeline.response(for: request(fixture, .noStore)).origin == .source)
    #expect(try await fixture.origin() == .memory)
    #expect(fixture.asked == ["-", "-", "-"] && fixture.statistics.storedBytes == unstored.thumbnail.data.count)
  }

  @Test func aFailureThatMayNotBeStoredIsNotRemembered() async throws {
    let fixture = try RevalidationFixture()
    fixture.picture.change { $0.status = 404 }
    for _ in 1...2 {
      await #expect(throws: ThumbnailError.self) {
        _ = try await fixture.pipeline.response(for: request(fixture, .noStore))
      }
    }
    #expect(fixture.asked.count == 2)
    fixture.picture.change { $0.status = nil }
    #expect(try await fixture.origin() == .source)
  }

  @Test func limitsOfARequestHoldForItAlone() async throws {
    let fixture = try PipelineFixture()
    var small = fixture.request()
    small.options.maximumPixels = 100
    var short = fixture.request()
    short.options.maximumSourceBytes = ByteSize(bytes: 100)
    for limited in [small, short] {
      #expect(await fixture.pipeline.failure(limited)?.code == "too-large")
    }
    // The failures are cached with the limits, which are lower than those of the pipeline.
    #expect(try await fixture.pipeline.response(for: fixture.request()).origin == .source)
    #expect(try await fixture.pipeline.response(for: small).origin == .memory)
  }

  @Test func aLimitHoldsForFilesAndMayBeHigherThanThePipelines() async throws {
    let fixture = try PipelineFixture(configuring: { $0.maximumPixels = 100 }) { _ in .status(404) }
    var request = ThumbnailRequest(
      .file(at: TestImages.url("formats/jpeg-420.jpg").path), variant: Variant(size: PixelSize(40, 40), fit: .cover))
    #expect(await fixture.pipeline.failure(request)?.code == "too-large")
    request.options.maximumPixels = 1 << 28
    #expect(try await fixture.pipeline.response(for: request).origin == .source)
  }

  @Test func aTimeoutEndsOneRequestAndNotTheOthers() async throws {
    let gate = Gate()
    let fixture = try heldFixture(gate)
    async let patient = fixture.pipeline.thumbnail(for: fixture.request())
    await poll { fixture.origin.requests.count == 1 }
    var hasty = fixture.request()
    hasty.timeout = .nanoseconds(1)
    #expect(await fixture.pipeline.failure(hasty)?.code == "timed-out")
    #expect(fixture.pipeline.activeJobs == 1 && fixture.pipeline.statistics.failures == 1)
    gate.open()
    _ = try await patient
    #expect(fixture.origin.requests.count == 1)
    #expect(try await fixture.pipeline.response(for: hasty).origin == .memory)
  }

  @Test func theTimeoutOfTheLastWaiterStopsTheWork() async throws {
    let gate = Gate()
    let fixture = try heldFixture(gate)
    defer { gate.open() }
    var hasty = fixture.request()
    hasty.timeout = .nanoseconds(1)
    for result in await fixture.pipeline.responses(for: [hasty]) {
      #expect(throws: ThumbnailError.self) { _ = try result.get() }
    }
    #expect(fixture.pipeline.activeJobs == 0)
  }

  @Test func whatMakesNoSenseIsRefused() async throws {
    let fixture = try PipelineFixture()
    let changes: [(inout ThumbnailRequest) -> Void] = [
      { $0.timeout = .zero }, { $0.options.maximumPixels = 0 }, { $0.options.maximumSourceBytes = ByteSize(bytes: 0) },
      { $0.options.cacheMode = .maximumAge(.seconds(-1)) },
    ]
    for change in changes {
      var request = fixture.request()
      change(&request)
      #expect(await fixture.pipeline.failure(request)?.code == "invalid-request")
    }
  }

  private func heldFixture(_ gate: Gate) throws -> PipelineFixture {
    return try PipelineFixture { _ in .picture.held(by: gate) }
  }
}
