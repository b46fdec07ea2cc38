@testable import HTTPTransport
@testable import PipelineTestSupport
@testable import ThumbnailCache
@testable import ThumbnailCore
@testable import Thumbnailer

/// Requests while more is pending than the disk has written.
@Suite(.timeLimit(.minutes(5))) struct SlowDiskTests {
  /// As much as may be pending, and a little more.
  private func pending(_ fixture: PipelineFixture) throws -> WeightedSemaphore.Reservation {
    let room = try #require(fixture.pipeline.stages.cache.disk).commits.room
    return room.overdraw(room.capacity + 1)
  }

  private func storedThumbnails(_ fixture: PipelineFixture) async throws -> Int {
    await fixture.pipeline.flush()
    return try DiskCache(directory: fixture.directory.url, byteLimit: nil).statistics().thumbnails
  }

  @Test func aVisibleRequestDoesNotWaitAndItsThumbnailIsStored() async throws {
    let fixture = try PipelineFixture()
    let pending = try pending(fixture)
    let response = try await fixture.pipeline.response(for: fixture.request())
    #expect(response.origin == .source && response.isStored)
    #expect(fixture.pipeline.cachedThumbnail(for: fixture.request().key) == response.thumbnail)
    // A flush does not wait for room.
    #expect(try await storedThumbnails(fixture) == 1)
    pending.release()
  }

  @Test func itsBodyIsKeptUntilThereIsRoomSoThatWhatIsPendingStaysBounded() async throws {
    let fixture = try PipelineFixture()
    let bodies = try #require(fixture.pipeline.stages.downloader.bodyMemory)
    let pending = try pending(fixture)
    for number in 1...3 {
      _ = try await fixture.pipeline.thumbnail(for: fixture.request("/\(number).jpg"))
      #expect(bodies.used == number * 256 << 10)
    }
    #expect(fixture.pipeline.activeJobs == 0)
    pending.release()
    await poll { bodies.used == 0 }
  }

  @Test func aResponseIsCommittedOnceTheDiskHasIt() async throws {
    let fixture = try PipelineFixture()
    let response = try await fixture.pipeline.response(for: fixture.request())
    #expect(response.isStored && response.isPending)
    // However many wait for one commit.
    fixture.pipeline.writeSoon()
    let other = Task { await response.committed() }
    let committed = await response.committed()
    #expect(committed.isStored && !committed.isPending)
    #expect(await other.value.isStored)
    #expect(try DiskCache(directory: fixture.directory.url, byteLimit: nil).statistics().thumbnails == 1)
    // What is in memory then is stored, too, as far as is known.
    let again = try await fixture.pipeline.response(for: fixture.request())
    #expect(again.origin == .memory && !again.isPending)
    #expect(await again.committed().isStored)
  }

  @Test func aResponseWhoseThumbnailCannotBeWrittenIsNotStored() async throws {
    let fixture = try PipelineFixture()
    let folder = fixture.directory.url
    try FileManager.default.removeItem(at: folder)
    try Data().write(to: folder)
    let response = try await fixture.pipeline.response(for: fixture.request())
    #expect(response.isStored)
    let committed = await response.committed()
    #expect(!committed.isStored && committed.thumbnail == response.thumbnail)
    // Nor is the next one, which is not even tried to be written first.
    #expect(try await !fixture.pipeline.response(for: fixture.request("/b.jpg")).isStored)
  }

  @Test func aPrefetchIsDeliveredWhenThereIsRoom() async throws {
    let fixture = try PipelineFixture()
    let pending = try pending(fixture)
    let isDelivered = Recorder<Bool>()
    let task = Task {
      let response = try await fixture.pipeline.response(for: fixture.request(priority: .prefetch))
      isDelivered.append(true)
      return response
    }
    await poll { fixture.pipeline.statistics.storedBytes > 0 }
    // A visible request is served meanwhile.
    _ = try await fixture.pipeline.thumbnail(for: fixture.request("/b.jpg"))
    #expect(isDelivered.values.isEmpty && fixture.pipeline.activeJobs == 1)
    pending.release()
    #expect(try await task.value.isStored)
  }

  @Test func aPrefetchThatBecomesVisibleWaitsNoLonger() async throws {
    let fixture = try PipelineFixture()
    let pending = try pending(fixture)
    let priority = PriorityControl(.prefetch)
    let task = Task { try await fixture.pipeline.response(for: fixture.request(), following: priority) }
    await poll { fixture.pipeline.statistics.storedBytes > 0 }
    priority.set(.visible)
    #expect(try await task.value.isStored)
    pending.release()
  }

  @Test func aVisibleThumbnailThatIsShrunkMeanwhileStaysInMemoryAlone() async throws {
    let fixture = try PipelineFixture()
    _ = try await fixture.pipeline.thumbnail(for: fixture.request("/a.jpg", PixelSize(60, 60)))
    let pending = try pending(fixture)
    let small = fixture.request("/a.jpg", PixelSize(20, 20))
    let response = try await fixture.pipeline.response(for: small)
    #expect(response.origin == .shrunk && !response.isStored)
    #expect(fixture.pipeline.cachedThumbnail(for: small.key) == response.thumbnail)
    #expect(try await storedThumbnails(fixture) == 1)
    pending.release()
  }
}
