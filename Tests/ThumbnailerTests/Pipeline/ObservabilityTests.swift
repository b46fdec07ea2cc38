@testable import ImageCodec
@testable import PipelineTestSupport
@testable import ThumbnailCore
@testable import Thumbnailer

/// What docs/observability.md says of events and counters.
@Suite(.timeLimit(.minutes(5))) struct ObservabilityTests {
  private func names(_ recorder: EventRecorder) -> [String] { recorder.kinds.map(Self.name) }

  private static func name(_ kind: PipelineEvent.Kind) -> String {
    Mirror(reflecting: kind).children.first?.label ?? "\(kind)"
  }

  private func page() throws -> String {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    return try String(contentsOf: root.appendingPathComponent("docs/observability.md"), encoding: .utf8)
  }

  @Test func thePageNamesEveryLabelAndCounter() throws {
    let page = try page()
    for label in Log.all.map(\.label) { #expect(page.contains("| `\(label)` |"), "\(label)") }
    for counter in PipelineStatistics().counters { #expect(page.contains("| `\(counter.name)` |"), "\(counter.name)") }
  }

  @Test func everyStageOfAPictureIsTold() async throws {
    let fixture = try PipelineFixture()
    _ = try await fixture.pipeline.thumbnail(for: fixture.request())
    await poll { fixture.recorder.kinds.count == 5 }
    #expect(names(fixture.recorder) == ["attempted", "downloaded", "planned", "rendered", "stored"])
    guard
      case .downloaded(let bytes, let expected, let isComplete, let attempts, let version, _) = fixture.recorder.kinds[
        1], case .attempted(1, 200) = fixture.recorder.kinds[0]
    else { return }
    #expect(bytes > 1000 && expected == bytes && isComplete && attempts == 1 && version == "1.1")
  }

  @Test func hitsInMemoryAndOnDiskAreTold() async throws {
    let fixture = try PipelineFixture()
    _ = try await fixture.pipeline.thumbnail(for: fixture.request("/a.jpg", PixelSize(200, 200)))
    _ = try await fixture.pipeline.thumbnail(for: fixture.request("/a.jpg", PixelSize(200, 200)))
    await poll { names(fixture.recorder).contains("memoryHit") }
    let restarted = try await fixture.restarted()
    let recorder = EventRecorder()
    recorder.follow(restarted)
    _ = try await restarted.thumbnail(for: fixture.request("/a.jpg", PixelSize(200, 200)))
    _ = try await restarted.thumbnail(for: fixture.request("/a.jpg", PixelSize(50, 50)))
    await poll { names(recorder).filter { $0 == "diskHit" }.count == 2 }
    #expect(names(recorder) == ["diskHit", "planned", "stored", "diskHit"])
    let shrunk = recorder.kinds.compactMap { if case .diskHit(_, let shrunk, _) = $0 { shrunk } else { nil } }
    #expect(shrunk == [false, true])
  }

  @Test func aLocalFileIsOpened() async throws {
    let fixture = try PipelineFixture()
    let file = ImageSource.file(at: TestImages.url("formats/jpeg-420.jpg").path)
    _ = try await fixture.pipeline.thumbnail(
      for: ThumbnailRequest(file, variant: Variant(size: PixelSize(40, 40), fit: .cover)))
    await poll { fixture.recorder.kinds.count == 4 }
    #expect(names(fixture.recorder) == ["opened", "planned", "rendered", "stored"])
  }

  @Test func joiningFailingAndLeavingAreTold() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture { $0.path == "/held" ? .ok(Data()).held(by: gate) : .status(404) }
    defer { gate.open() }
    _ = try? await fixture.pipeline.thumbnail(for: fixture.request("/missing"))
    let first = Task { try await fixture.pipeline.thumbnail(for: fixture.request("/held")) }
    await poll { fixture.pipeline.activeJobs == 1 }
    let second = Task { try await fixture.pipeline.thumbnail(for: fixture.request("/held")) }
    await poll { names(fixture.recorder).contains("joined") }
    first.cancel()
    second.cancel()
    _ = try? await first.value
    _ = try? await second.value
    await poll { names(fixture.recorder).contains("cancelled") }
    #expect(names(fixture.recorder) == ["attempted", "failed", "joined", "cancelled"])
  }

  @Test func aFailureIsCountedAndToldBeforeItIsHeardOf() async throws {
    let fixture = try PipelineFixture { _ in .status(404) }
    for number in 1...50 {
      // Failures are committed together at any time.
      let events = fixture.pipeline.events.filter { if case .committed = $0.kind { false } else { true } }
      _ = try? await fixture.pipeline.thumbnail(for: fixture.request("/\(number)"))
      #expect(fixture.pipeline.statistics.failures == number)
      var iterator = events.makeAsyncIterator()
      #expect(await iterator.next().map { Self.name($0.kind) } == "attempted")
      #expect(await iterator.next().map { Self.name($0.kind) } == "failed")
    }
  }

  /// The count is taken while nobody has been answered yet, whichever way a job ends a request.
  @Test(arguments: [true, false]) func countingComesBeforeTheAnswer(endsTheJob: Bool) async throws {
    let fixture = try PipelineFixture { _ in .status(404) }
    let request = ThumbnailRequest(
      ImageSource(fixture.origin.url("/a.jpg")), variant: Variant(size: PixelSize(9, 9), fit: .cover))
    let jobs = fixture.pipeline.jobs
    let sink = RunningJobs.Sink(promise: Promise(), started: .now)
    let id = jobs.table.withLock { $0.join(request, sink: sink).waiter.job }
    // It would find the answer if there were one already: a shot that was answered ignores what comes later.
    let early = ThumbnailError.notCached
    if endsTheJob {
      jobs.end(id, with: .notFound(reason: "gone")) { variants in
        #expect(variants == [request.variant])
        sink.promise.resume(with: .failure(early))
      }
    } else {
      jobs.finish(request.variant, of: id, with: .failure(.notFound(reason: "gone"))) { count in
        #expect(count == 1)
        sink.promise.resume(with: .failure(early))
      }
    }
    let result = await sink.promise.wait {}
    #expect(throws: early) { try result.get() }
  }

  @Test func aRequestThatCannotBeMetIsTold() async throws {
    let fixture = try PipelineFixture()
    _ = try? await fixture.pipeline.thumbnail(for: fixture.request("/a.jpg", PixelSize(0, 10)))
    await poll { fixture.recorder.kinds.count == 1 }
    guard case .failed(let variants, .invalidRequest)? = fixture.recorder.kinds.first else {
      Issue.record("\(fixture.recorder.kinds)")
      return
    }
    #expect(variants.map(\.size) == [PixelSize(0, 10)] && fixture.pipeline.statistics.failures == 1)
  }

  @Test func theWaitForAWorkerIsNotTimeOnIt() async throws {
    let directory = try TemporaryDirectory()
    var configuration = ThumbnailPipeline.Configuration(cacheDirectory: directory.url)
    configuration.jobs = 1
    configuration.isolation = .inProcess
    let pipeline = try ThumbnailPipeline(configuration)
    let (workers, recorder, gate) = (pipeline.stages.runner.workers, EventRecorder(), Latch())
    recorder.follow(pipeline)
    async let first: Void = workers.run { _ in gate.wait() }
    await poll { workers.running == 1 }
    let source = ImageSource.file(at: TestImages.url("formats/jpeg-420.jpg").path)
    async let second = pipeline.response(
      for: ThumbnailRequest(source, variant: Variant(size: PixelSize(40, 40), fit: .cover)))
    await poll { workers.waiting == 1 }
    // Real time: the program measures it, and a part is never longer than the whole.
    let opened = ContinuousClock.now
    gate.open()
    // It begins after the first has ended, which is after this.
    _ = try await (first, second)
    let passed = .now - opened
    await poll { names(recorder).contains("rendered") }
    for case .rendered(_, _, let duration, _) in recorder.kinds { #expect(duration <= passed) }
  }

  @Test func aCacheThatFailsMeanwhileIsTold() async throws {
    let fixture = try PipelineFixture()
    let folder = fixture.directory.url
    try FileManager.default.removeItem(at: folder)
    try Data().write(to: folder)
    _ = try await fixture.pipeline.thumbnail(for: fixture.request())
    await fixture.pipeline.flush()
    await poll { names(fixture.recorder).contains("cacheProblem") }
    #expect(fixture.pipeline.cacheProblem != nil)
  }

  @Test func everyListenerGetsAllEventsAndASlowOneLosesTheOldest() async throws {
    let fixture = try PipelineFixture()
    let slow = fixture.pipeline.events(bufferingNewest: 2)
    _ = try await fixture.pipeline.thumbnail(for: fixture.request())
    await poll { fixture.recorder.kinds.count == 5 }
    var kept = slow.makeAsyncIterator()
    let kinds = [await kept.next(), await kept.next()].compactMap { $0?.kind }.map(Self.name)
    #expect(kinds.count == 2)
    // The disk's commit comes when it will, and may be one of the two.
    let ofTheRequest = kinds.filter { $0 != "committed" }
    #expect(ofTheRequest == ["rendered", "stored"].suffix(ofTheRequest.count))
  }

  @Test func theStreamEndsWithThePipeline() async throws {
    let directory = try TemporaryDirectory()
    var pipeline: ThumbnailPipeline? = try ThumbnailPipeline(.init(cacheDirectory: directory.url))
    let events = try #require(pipeline).events
    pipeline = nil
    var count = 0
    for await _ in events { count += 1 }
    #expect(count == 0)
  }

  @Test func everyCounterMoves() async throws {
    let gate = Gate()
    let picture = try TestImages.bytes("formats/jpeg-420.jpg")
    let fixture = try PipelineFixture { request in
      switch request.path {
      case "/held": .ok(picture).held(by: gate)
      case "/missing": .status(404)
      default: .ok(picture)
      }
    }
    let pipeline = fixture.pipeline
    let first = Task { try await pipeline.thumbnail(for: fixture.request("/held")) }
    await poll { pipeline.activeJobs == 1 }
    let second = Task { try await pipeline.thumbnail(for: fixture.request("/held")) }
    await poll { pipeline.statistics.joins == 1 }
    gate.open()
    let thumbnail = try await first.value
    _ = try await second.value
    _ = try? await pipeline.thumbnail(for: fixture.request("/missing"))
    _ = try await pipeline.thumbnail(for: fixture.request("/held"))
    let statistics = pipeline.statistics
    #expect(statistics.memoryHits == 1 && statistics.rendered == 1 && statistics.failures == 1)
    #expect(statistics.downloads == 1 && statistics.decodes == 1 && statistics.joins == 1)
    #expect(statistics.downloadedBytes >= picture.count && statistics.storedBytes == thumbnail.data.count)
    let restarted = try await fixture.restarted()
    _ = try await restarted.thumbnail(for: fixture.request("/held"))
    #expect(restarted.statistics.diskHits == 1 && restarted.statistics.rendered == 0)
  }

  @Test func countersHaveTheNamesOfTheirProperties() {
    var statistics = PipelineStatistics()
    (statistics.memoryHits, statistics.joins) = (3, 4)
    let counters = statistics.counters
    #expect(counters.count >= 10 && counters.first?.name == "memoryHits" && counters.first?.value == 3)
    #expect(counters.first { $0.name == "joins" }?.value == 4)
  }
}

/// Events on their way to those who listen.
@Suite(.timeLimit(.minutes(5))) struct EventHubTests {
  @Test func everyListenerGetsWhatHappensFromThenOn() async {
    let hub = EventHub<Int>()
    hub.send(0)
    let first = hub.subscribe(bufferingNewest: 10)
    hub.send(1)
    let second = hub.subscribe(bufferingNewest: 10)
    hub.send(2)
    hub.finish()
    #expect(await first.reduce(into: []) { $0.append($1) } == [1, 2])
    #expect(await second.reduce(into: []) { $0.append($1) } == [2])
  }

  @Test func aListenerGetsWhatItWantsAlone() async {
    let hub = EventHub<Int>()
    let all = hub.subscribe(bufferingNewest: 10)
    let even = hub.subscribe(bufferingNewest: 1) { $0.isMultiple(of: 2) }
    for number in 1...3 { hub.send(number) }
    hub.finish()
    #expect(await all.reduce(into: []) { $0.append($1) } == [1, 2, 3])
    #expect(await even.reduce(into: []) { $0.append($1) } == [2])
  }

  @Test func aListenerThatComesAfterTheEndEnds() async {
    let hub = EventHub<Int>()
    let early = hub.subscribe(bufferingNewest: 10)
    hub.finish()
    let late = hub.subscribe(bufferingNewest: 10)
    hub.send(1)
    for await event in late { Issue.record("\(event) came after the end") }
    for await event in early { Issue.record("\(event) came after the end") }
  }
}
