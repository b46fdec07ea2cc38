@testable import PipelineTestSupport
@testable import Thumbnailer

/// What a request tells of its progress.
@Suite(.timeLimit(.minutes(5))) struct RequestProgressTests {
  @Test func aRequestTellsWhatHasArrivedAndOfHowMuch() async throws {
    let gate = Gate()
    let picture = try TestImages.bytes("formats/jpeg-420.jpg")
    let fixture = try PipelineFixture { _ in .ok(picture).stalling(after: 1000, until: gate) }
    let states = Recorder<RequestProgress>()
    async let response = fixture.pipeline.response(for: fixture.request()) { states.append($0) }
    await poll { states.values.last?.receivedBytes == 1000 }
    let arriving = try #require(states.values.last)
    #expect(arriving.stage == .downloading && arriving.expectedBytes == picture.count)
    #expect(arriving.fraction == 1000 / Double(picture.count))
    gate.open()
    #expect(try await response.origin == .source)
    #expect(fixture.pipeline.activeJobs == 0)
  }

  @Test func aRequestThatJoinsARunningJobBeginsWithItsState() async throws {
    let gate = Gate()
    let picture = try TestImages.bytes("formats/jpeg-420.jpg")
    let fixture = try PipelineFixture { _ in .ok(picture).stalling(after: 1000, until: gate) }
    async let first = fixture.pipeline.thumbnail(for: fixture.request())
    let source = fixture.request().source
    await poll { fixture.pipeline.jobs.progress(of: source)?.current.receivedBytes == 1000 }
    let states = Recorder<RequestProgress>()
    async let second = fixture.pipeline.response(for: fixture.request("/a.jpg", PixelSize(20, 20))) {
      states.append($0)
    }
    await poll { !states.values.isEmpty }
    #expect(
      states.values.first
        == RequestProgress(stage: .downloading, receivedBytes: 1000, expectedBytes: picture.count))
    gate.open()
    _ = try await (first, second)
  }

  @Test func aServerThatIsWaitedForIsTold() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture { _ in .picture.held(by: gate) }
    let states = Recorder<RequestProgress>()
    async let response = fixture.pipeline.response(for: fixture.request()) { states.append($0) }
    await poll { states.values.last?.stage == .waiting }
    #expect(states.values.last?.receivedBytes == 0 && states.values.last?.expectedBytes == nil)
    #expect(states.values.last?.fraction == nil)
    gate.open()
    _ = try await response
  }

  @Test func aMemoryHitHasNoProgress() async throws {
    let fixture = try PipelineFixture()
    _ = try await fixture.pipeline.thumbnail(for: fixture.request())
    let states = Recorder<RequestProgress>()
    #expect(try await fixture.pipeline.response(for: fixture.request()) { states.append($0) }.origin == .memory)
    #expect(states.values.isEmpty)
  }

  @Test func aFailureAndACancellationEndTheCalls() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture { $0.path == "/held" ? .ok(Data()).held(by: gate) : .status(404) }
    defer { gate.open() }
    let states = Recorder<RequestProgress>()
    await #expect(throws: ThumbnailError.self) {
      _ = try await fixture.pipeline.response(for: fixture.request("/missing")) { states.append($0) }
    }
    let held = Task { try await fixture.pipeline.response(for: fixture.request("/held")) { states.append($0) } }
    await poll { states.values.last?.stage == .waiting && fixture.origin.requests.count == 2 }
    held.cancel()
    await #expect(throws: ThumbnailError.cancelled) { _ = try await held.value }
    #expect(fixture.pipeline.activeJobs == 0)
  }

  @Test func ofSeveralUpdatesASlowFollowerGetsTheLast() async throws {
    let progress = BodyProgress()
    let updates = progress.updates.subscribe(bufferingNewest: 1)
    progress.setComplete(false)
    progress.begin(expectedLength: 10)
    progress.receive(upTo: 4)
    var iterator = updates.makeAsyncIterator()
    #expect(await iterator.next() == RequestProgress(stage: .downloading, receivedBytes: 4, expectedBytes: 10))
    progress.setComplete(true)
    #expect(await iterator.next()?.stage == .decoding)
  }
}

@Suite struct BodyProgressTests {
  @Test func thePartGrowsWithTheBytesAndIsWholeOnlyWhenAllIsHere() {
    let progress = BodyProgress()
    #expect(progress.fraction == 0)
    progress.begin(expectedLength: 1_000)
    progress.receive(upTo: 250)
    #expect(progress.fraction == 0.25)
    progress.receive(upTo: 1_000)
    #expect(progress.fraction < 1)
    progress.setComplete(true)
    #expect(progress.fraction == 1)
  }

  @Test func anotherAttemptBeginsAnew() {
    let progress = BodyProgress()
    progress.begin(expectedLength: 1_000)
    progress.receive(upTo: 900)
    progress.begin(expectedLength: 1_000)
    #expect(progress.fraction == 0)
  }

  @Test func ofABodyOfUnknownLengthNothingIsKnownBeforeItsEnd() {
    let progress = BodyProgress()
    progress.begin(expectedLength: nil)
    progress.receive(upTo: 900)
    #expect(progress.fraction == 0)
  }
}
