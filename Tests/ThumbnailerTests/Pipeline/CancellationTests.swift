@testable import PipelineTestSupport
@testable import ThumbnailCache
@testable import ThumbnailCore
@testable import Thumbnailer

/// SCENARIOS, cancellation and priority, 16 to 26, through the whole pipeline; 20 has nothing to test here: there is no
/// hook between request and download. 27 to 29 are tested on the pool and the downloader.
@Suite(.timeLimit(.minutes(5))) struct CancellationTests {
  @Test func theSocketClosesWhenTheLastWaiterLeaves() async throws {
    let fixture = try PipelineFixture { _ in .ok([UInt8](repeating: 0, count: 1 << 20)).stalling(after: 1000) }
    let task = Task { try await fixture.pipeline.thumbnail(for: fixture.request()) as Thumbnail }
    await poll { fixture.origin.requests.count == 1 }
    task.cancel()
    #expect(await failure(of: task) == .cancelled)
    await poll { fixture.origin.requests[0].outcome == .clientClosed }
    #expect(fixture.pipeline.activeJobs == 0)
  }

  @Test func aRequestAfterACancelledOneSucceedsAtOnce() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture { $0.number == 1 ? .picture.held(by: gate) : .picture }
    let task = Task { try await fixture.pipeline.thumbnail(for: fixture.request()) as Thumbnail }
    await poll { fixture.origin.requests.count == 1 }
    task.cancel()
    let again = try await fixture.pipeline.thumbnail(for: fixture.request())
    #expect(again.size == PixelSize(40, 40))
    #expect(await failure(of: task) == .cancelled)
    gate.open()
  }

  @Test func nothingIsFetchedForWhoLeftWhileOthersAreServedFromTheCache() async throws {
    let fixture = try PipelineFixture()
    _ = try await fixture.pipeline.thumbnail(for: fixture.request("/a.jpg", PixelSize(60, 60)))
    await fixture.pipeline.flush()
    // The small thumbnail is made of the stored one, as soon as there is memory for that.
    let decodes = fixture.pipeline.stages.runner.memory
    let taken = try await decodes.reserve(decodes.capacity, priority: PriorityControl(.visible))
    let requests = [PixelSize(20, 20), PixelSize(100, 100)].map { fixture.request("/a.jpg", $0) }
    let waiters = fixture.pipeline.jobs.join(requests, since: .now)
    await poll { decodes.waiting == 1 }
    fixture.pipeline.jobs.leave(waiters[1])
    taken.release()
    let small = try await fixture.pipeline.jobs.result(of: waiters[0]).get()
    #expect(small.origin == .shrunk)
    // Who asks for something else comes behind whatever would be fetched in vain.
    _ = try await fixture.pipeline.thumbnail(for: fixture.request("/b.jpg"))
    #expect(fixture.origin.requests.map(\.request.path) == ["/a.jpg", "/b.jpg"])
    #expect(fixture.pipeline.activeJobs == 0)
  }

  @Test func aRequestOfACancelledTaskStartsNothing() async throws {
    let fixture = try PipelineFixture()
    let latch = Latch()
    let task = Task {
      await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
          latch.wait()
          continuation.resume()
        }
      }
      _ = try await fixture.pipeline.thumbnail(for: fixture.request())
    }
    task.cancel()
    latch.open()
    #expect(await failure(of: task) == .cancelled)
    #expect(fixture.origin.requests.isEmpty)
  }

  @Test func waitingWorkThatIsCancelledNeverStarts() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture(configuring: { $0.downloads = 1 }) { _ in
      .picture.held(by: gate)
    }
    let running = Task { try await fixture.pipeline.thumbnail(for: fixture.request("/running")) as Thumbnail }
    await poll { fixture.origin.requests.count == 1 }
    let waiting = Task { try await fixture.pipeline.thumbnail(for: fixture.request("/waiting")) as Thumbnail }
    await poll { fixture.pipeline.activeJobs == 2 }
    waiting.cancel()
    #expect(await failure(of: waiting) == .cancelled)
    gate.open()
    _ = try await running.value
    #expect(fixture.origin.requests(for: "/waiting").isEmpty)
  }

  @Test func aVisibleRequestOvertakesAndRaisesAPrefetch() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture(configuring: { $0.downloads = 1 }) {
      $0.path == "/running" ? .picture.held(by: gate) : .picture
    }
    var tasks: [Task<Thumbnail, any Error>] = []
    func start(_ path: String, _ priority: Thumbnailer.Priority) {
      let request = fixture.request(path, priority: priority)
      tasks.append(Task { try await fixture.pipeline.thumbnail(for: request) as Thumbnail })
    }
    start("/running", .visible)
    await poll { fixture.origin.requests.count == 1 }
    for (index, path) in ["/one", "/two"].enumerated() {
      start(path, .prefetch)
      await poll { fixture.pipeline.waitingDownloads == index + 1 }
    }
    start("/two", .visible)
    await poll { fixture.pipeline.statistics.joins == 1 }
    gate.open()
    for task in tasks { _ = try await task.value }
    #expect(fixture.origin.requests.map(\.path) == ["/running", "/two", "/one"])
  }

  @Test func nothingIsStoredOfAWorkThatWasCancelled() async throws {
    let fixture = try PipelineFixture()
    let tasks = (0..<50).map { number in
      Task { try await fixture.pipeline.thumbnail(for: fixture.request("/\(number)")) as Thumbnail }
    }
    for (number, task) in tasks.enumerated() {
      if number % 3 == 0 { await Task.yield() }
      task.cancel()
    }
    var finished = 0
    for task in tasks where await failure(of: task) == nil { finished += 1 }
    await poll { fixture.pipeline.activeJobs == 0 }
    await fixture.pipeline.flush()
    let disk = try DiskCache(directory: fixture.directory.url, byteLimit: 1 << 20)
    // Work that had reached the store when it was cancelled is kept; nothing else is.
    #expect(try disk.statistics().thumbnails >= finished)
    #expect(try disk.statistics().thumbnails <= fixture.pipeline.statistics.decodes)
  }
}
