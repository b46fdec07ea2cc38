@testable import PipelineTestSupport
@testable import ThumbnailCache
@testable import Thumbnailer

/// What is removed is gone, whatever is under way meanwhile.
@Suite(.timeLimit(.minutes(5))) struct RemovalTests {
  private func remove(_ all: Bool, from pipeline: ThumbnailPipeline, _ source: ImageSource) async {
    if all { await pipeline.removeAll() } else { await pipeline.remove(source) }
  }

  private func storedThumbnails(_ fixture: PipelineFixture) async throws -> Int {
    await fixture.pipeline.flush()
    return try DiskCache(directory: fixture.directory.url, byteLimit: nil).statistics().thumbnails
  }

  @Test(arguments: [false, true]) func aJobThatRunsAnswersItsWaitersAndStoresNothing(all: Bool) async throws {
    let gate = Gate()
    let fixture = try PipelineFixture { _ in .picture.held(by: gate) }
    let request = fixture.request()
    let waiting = Task { try await fixture.pipeline.response(for: request) }
    await poll { fixture.origin.requests.count == 1 }
    await remove(all, from: fixture.pipeline, request.source)
    gate.open()
    let response = try await waiting.value
    #expect(response.origin == .source && !response.isStored)
    #expect(fixture.pipeline.cachedThumbnail(for: request.key) == nil)
    #expect(try await storedThumbnails(fixture) == 0)
    #expect(try await fixture.pipeline.response(for: request).origin == .source)
    #expect(try await storedThumbnails(fixture) == 1)
  }

  @Test(arguments: [false, true]) func whoAsksAfterwardsJoinsNoJobFromBefore(all: Bool) async throws {
    let gate = Gate()
    let pictures = [try TestImages.bytes("formats/jpeg-420.jpg"), try TestImages.bytes("formats/jpeg-gray.jpg")]
    let fixture = try PipelineFixture { request in
      request.number == 1 ? .ok(pictures[0]).held(by: gate) : .ok(pictures[1])
    }
    let request = fixture.request()
    let before = Task { try await fixture.pipeline.response(for: request) }
    await poll { fixture.origin.requests.count == 1 }
    await remove(all, from: fixture.pipeline, request.source)
    let after = try await fixture.pipeline.response(for: request)
    #expect(after.origin == .source && after.isStored && fixture.pipeline.statistics.joins == 0)
    gate.open()
    #expect(try await before.value.thumbnail.data != after.thumbnail.data)
    // The old job has not put its own in the place of the new one.
    #expect(fixture.pipeline.cachedThumbnail(for: request.key) == after.thumbnail)
    let restarted = try await fixture.restarted()
    #expect(try await restarted.thumbnail(for: request) == after.thumbnail)
    #expect(fixture.pipeline.activeJobs == 0)
  }

  @Test func aConfirmationThatComesTooLateKeepsNothing() async throws {
    let gate = Gate()
    let clock = WallClock()
    let picture = try ChangingPicture()
    let fixture = try PipelineFixture(configuring: { $0.now = { clock.now } }) { request in
      let answer = picture.answer(request)
      return request.value(of: "If-None-Match") == nil ? answer : answer.held(by: gate)
    }
    let request = fixture.request()
    _ = try await fixture.pipeline.thumbnail(for: request)
    clock.advance(by: 61)
    let waiting = Task { try await fixture.pipeline.response(for: request) }
    await poll { fixture.origin.requests.count == 2 }
    await fixture.pipeline.remove(request.source)
    gate.open()
    #expect(try await waiting.value.origin == .revalidated)
    #expect(fixture.pipeline.cachedThumbnail(for: request.key) == nil)
    #expect(try await storedThumbnails(fixture) == 0)
    #expect(try await fixture.pipeline.response(for: request).origin == .source)
  }

  @Test func aFailureFromBeforeIsNotRemembered() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture { request in
      request.number == 1 ? .status(404).held(by: gate) : .picture
    }
    let request = fixture.request()
    let waiting = Task { try await fixture.pipeline.thumbnail(for: request) }
    await poll { fixture.origin.requests.count == 1 }
    await fixture.pipeline.remove(request.source)
    gate.open()
    #expect(await failure(of: waiting)?.code == "not-found")
    #expect(try await fixture.pipeline.response(for: request).origin == .source)
  }

  @Test func whatWaitsToBeWrittenGoesAsWell() async throws {
    let fixture = try PipelineFixture()
    for number in 0..<20 {
      let request = fixture.request("/\(number).jpg")
      _ = try await fixture.pipeline.thumbnail(for: request)
      await fixture.pipeline.remove(request.source)
      #expect(fixture.pipeline.cachedThumbnail(for: request.key) == nil)
    }
    #expect(try await storedThumbnails(fixture) == 0)
  }

  @Test func requestsAndRemovalsAtOnceLeaveNothingBehind() async throws {
    let fixture = try PipelineFixture()
    let request = fixture.request()
    for _ in 0..<50 {
      let waiting = (0..<4).map { side in
        Task { try await fixture.pipeline.thumbnail(for: fixture.request("/a.jpg", PixelSize(20 + side, 20))) }
      }
      await fixture.pipeline.remove(request.source)
      for task in waiting { _ = try await task.value }
      await fixture.pipeline.remove(request.source)
      #expect(fixture.pipeline.stages.cache.memory.entries.withLock { $0.totalBytes } == 0)
    }
    #expect(try await storedThumbnails(fixture) == 0)
    #expect(fixture.pipeline.activeJobs == 0)
  }
}
