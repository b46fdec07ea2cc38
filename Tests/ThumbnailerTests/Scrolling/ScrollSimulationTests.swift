@testable import PipelineTestSupport
@testable import Thumbnailer
@testable import scroll_player

/// Scrolls that are played against a real pipeline: cells 100 points high in one column, four of them in view. Real time:
/// the player's frames, of which a busy machine may skip any but the first and the last.
@Suite(.timeLimit(.minutes(5))) struct ScrollSimulationTests {
  private static let height = 400.0

  private func fixture(
    items: Int, answer: (@Sendable (OriginRequest) -> OriginResponse)? = nil
  ) throws -> PrefetcherFixture {
    try PrefetcherFixture(items: items, isPatient: false, configuring: { $0.attempts = 1 }, answer: answer)
  }

  private func simulation(
    _ trace: String, pace: ScrollSimulation.Pace = .untilReady, patience: Duration = .seconds(600)
  ) throws -> ScrollSimulation {
    ScrollSimulation(trace: try ScrollTrace(text: trace), viewHeight: Self.height, pace: pace, patience: patience)
  }

  private static func picture() throws -> Data { try TestImages.bytes("formats/jpeg-420.jpg") }

  @Test func everyCellThatComesIntoViewIsToldOnce() async throws {
    let fixture = try fixture(items: 100)
    let report = try await simulation("0 0\n0.2 0\n0.6 6\n0.8 3").run(on: fixture.prefetcher)
    #expect(report.cells.map(\.item) == Array(0..<10))
    #expect(report.cells.filter(\.isOfFirstScreen).map(\.item) == [0, 1, 2, 3])
    #expect(report.cells.allSatisfy { $0.ready != nil && $0.failure == nil })
    #expect(report.restsAt <= report.duration && report.completeAfterRest >= .zero)
    let size = try Self.picture().count
    #expect(report.downloadedBytes - report.unseenBytes == 10 * size)
  }

  @Test func whatIsThereBeforeItsCellIsReadyOnSight() async throws {
    let fixture = try fixture(items: 30)
    for item in 0..<30 { _ = try await fixture.pipeline.thumbnail(for: fixture.request(item)) as Thumbnail }
    let report = try await simulation("0 0\n0.1 0\n0.5 8").run(on: fixture.prefetcher)
    #expect(report.cells.map(\.item) == Array(0..<12))
    #expect(report.downloadedBytes == 0 && report.unseenBytes == 0)
    #expect(report.cells.allSatisfy { $0.wait == .zero } && report.readyOnSight == 1)
    // Even where a jump leads that nobody has seen coming.
    let other = try PrefetcherFixture.prefetcher(on: fixture.fixture, isPatient: false)
    other.setItems(fixture.sources(30))
    let jump = try await simulation("0 0\n0.1 0\n0.1 20").run(on: other)
    #expect(jump.cells.map(\.item) == [0, 1, 2, 3, 20, 21, 22, 23] && jump.readyOnSight == 1)
  }

  @Test(arguments: ["0 0\n0.1 0\n0.9 24", "0 0\n0.1 0\n0.1 60", "0 0\n0.1 0\n0.5 12\n0.9 2\n1.3 14"])
  func noCellIsEverEmptyWhoseImageTheCacheHasHeld(trace: String) async throws {
    let first = try fixture(items: 100)
    let cold = try await simulation(trace).run(on: first.prefetcher)
    #expect(cold.cells.allSatisfy { $0.ready != nil })
    // Nothing is in memory, and each thumbnail waits for its server to confirm it.
    let pipeline = try await first.fixture.restarted { $0.cacheMode = .refresh }
    let prefetcher = Prefetcher(pipeline: pipeline, layout: first.prefetcher.layout)
    prefetcher.setItems(first.sources(100))
    let placeholders = await pipeline.placeholders(of: first.sources(100))
    let held = try await simulation(trace, pace: .realTime)
      .run(on: prefetcher, hasPlaceholder: { placeholders[$0] != nil })
    // On a busy machine cells pass between two frames.
    #expect(Set(held.cells.map(\.item)).isSubset(of: cold.cells.map(\.item)))
    #expect(held.emptyInView == 0)
    #expect(held.cellsAfterFirstScreen.count >= 4)
  }

  @Test func whatNobodySawIsCountedApart() async throws {
    // The screen is complete only when the one ahead of it is.
    let picture = try Self.picture()
    let gate = Gate()
    let fixture = try fixture(items: 100) { request in
      let answer = OriginResponse.ok(picture, type: "image/jpeg")
      return request.path == "/0" ? answer.held(by: gate) : answer
    }
    async let scroll = simulation("0 0").run(on: fixture.prefetcher)
    await poll { Set(4..<8).isSubset(of: fixture.ready.map(\.index)) }
    gate.open()
    let report = try await scroll
    #expect(report.cells.map(\.item) == [0, 1, 2, 3])
    #expect(report.unseenBytes == 4 * picture.count && report.downloadedBytes == 8 * picture.count)
  }

  @Test func aCellThatIsThereIsCompleteOnceItsBytesAreKnown() async throws {
    let fixture = try fixture(items: 1)
    let record = ScrollRecord(pipeline: fixture.pipeline)
    let response: ThumbnailResponse = try await fixture.pipeline.response(for: fixture.request(0))
    fixture.show(row: 0)
    record.look(at: fixture.prefetcher, isFirstScreen: true, now: .now)
    #expect(!record.isComplete(0..<1))
    record.take(.ready(index: 0, source: fixture.source(0), response: response))
    #expect(record.isComplete(0..<1))
    let report = record.report(since: .now, statistics: fixture.pipeline.statistics)
    #expect(report.cells.map(\.item) == [0] && report.unseenBytes == 0 && report.downloadedBytes > 0)
  }

  @Test func realTimeTakesItsTime() async throws {
    let fixture = try fixture(items: 40)
    let report = try await simulation("0 0\n0.1 0\n0.3 4", pace: .realTime).run(on: fixture.prefetcher)
    // A machine that is busy may skip cells, but not those where the scroll begins and rests.
    #expect(Set(report.cells.map(\.item)).isSuperset(of: [0, 1, 2, 3, 4, 5, 6, 7]))
    #expect(report.restsAt >= .milliseconds(300))
  }

  @Test(arguments: [ScrollSimulation.Pace.realTime, .untilReady])
  func theScrollBeginsWithTheFirstItemsAndWaitsForMore(pace: ScrollSimulation.Pace) async throws {
    let fixture = try fixture(items: 0)
    let prefetcher = fixture.prefetcher
    let frames = Counter()
    let hasMore = Gate()
    // Long after a trace that did not wait would have ended, there are items; later there are more.
    let report = try await simulation("0 0\n0.02 0\n0.05 3", pace: pace).run(on: prefetcher) {
      let frame = frames.increment()
      if frame == 40 { prefetcher.append(contentsOf: (0..<4).map { fixture.source($0) }) }
      if frame == 80 { prefetcher.append(contentsOf: (4..<50).map { fixture.source($0) }) }
      if frame > 80 { hasMore.open() }
      return !hasMore.isOpen
    }
    #expect(report.cells.map(\.item) == Array(0..<7))
    #expect(report.cells.prefix(4).allSatisfy { $0.isOfFirstScreen })
    #expect(report.cells.dropFirst(4).allSatisfy { !$0.isOfFirstScreen && $0.ready != nil })
  }

  @Test(arguments: [ScrollSimulation.Pace.realTime, .untilReady])
  func anEmptyGridIsNotScrolled(pace: ScrollSimulation.Pace) async throws {
    let fixture = try fixture(items: 0)
    let report = try await simulation("0 0\n3600 10", pace: pace).run(on: fixture.prefetcher)
    #expect(report.cells.isEmpty && report.readyOnSight == 1 && report.wait(ofShare: 0.5) == nil)
  }

  @Test func aScrollBeyondTheContentRestsAtItsEnd() async throws {
    let fixture = try fixture(items: 6)
    let report = try await simulation("0 0\n0.1 0\n0.1 1000").run(on: fixture.prefetcher)
    #expect(Set(report.cells.map(\.item)) == Set(0..<6))
    #expect(report.cells.allSatisfy { $0.ready != nil })
  }

  @Test func aPictureThatFailsHoldsNothingUp() async throws {
    let picture = try Self.picture()
    let fixture = try fixture(items: 5) { request in
      request.path == "/4" ? .status(404) : .ok(picture, type: "image/jpeg")
    }
    let report = try await simulation("0 0\n0.1 1").run(on: fixture.prefetcher)
    let failed = try #require(report.cells.first { $0.item == 4 })
    #expect(failed.ready == nil && failed.wait == nil && failed.failure?.contains("404") == true)
    #expect(report.cells.count { $0.failure == nil } == 4)
    #expect(report.readyOnSight == 0)
  }

  @Test func aLastScreenThatNeverComesIsGivenUp() async throws {
    let picture = try Self.picture()
    let gate = Gate()
    defer { gate.open() }
    let fixture = try fixture(items: 4) { request in
      let answer = OriginResponse.ok(picture, type: "image/jpeg")
      return request.path == "/2" ? answer.held(by: gate) : answer
    }
    // Real time: only has to pass.
    let report = try await simulation("0 0", patience: .milliseconds(50)).run(on: fixture.prefetcher)
    #expect(report.cells[2].ready == nil && report.cells[2].failure == nil)
    #expect(report.completeAfterRest >= .milliseconds(50))
  }

  @Test func aScrollThatIsCancelledTellsWhatIsKnown() async throws {
    let fixture = try fixture(items: 100)
    let simulation = try simulation("0 0\n3600 0", pace: .realTime)
    let task = Task { await simulation.run(on: fixture.prefetcher) }
    await poll { fixture.ready.count >= 4 }
    task.cancel()
    #expect(await task.value.cells.map(\.item) == [0, 1, 2, 3])
  }
}

struct ScrollTimelineTests {
  private func count(_ text: String, in svg: String) -> Int { svg.components(separatedBy: text).count - 1 }

  @Test func aLineForEachCellSaysWhetherItWasLate() {
    let report = ScrollReport(
      cells: [
        .init(item: 0, inView: .zero, ready: .seconds(1), isOfFirstScreen: true),
        .init(item: 1, inView: .seconds(3), ready: .seconds(2)),
        .init(item: 2, inView: .seconds(3), ready: .seconds(1)),
        .init(item: 3, inView: .seconds(4), failure: "<b>no picture</b>"),
      ], duration: .seconds(5), restsAt: .seconds(4), downloadedBytes: 9, unseenBytes: 0)
    let svg = ScrollTimeline(report).svg
    #expect(svg.hasPrefix("<svg xmlns=\"http://www.w3.org/2000/svg\"") && svg.hasSuffix("</svg>"))
    #expect(count("stroke=\"#5b5\"", in: svg) == 2)
    // One that was late, and one that never came.
    #expect(count("stroke=\"#d22\"", in: svg) == 2)
    #expect(count("stroke=\"#222\"", in: svg) == 4)
    #expect(count(">rests</text>", in: svg) == 1 && count("> 5 s<", in: svg) + count(">5 s<", in: svg) == 1)
    #expect(!svg.contains("<b>") && !svg.contains("nan") && !svg.contains("inf"))
  }

  @Test func aScrollThatSawNothingIsDrawnAsWell() {
    let report = ScrollReport(cells: [], duration: .zero, restsAt: .zero, downloadedBytes: 0, unseenBytes: 0)
    let svg = ScrollTimeline(report).svg
    #expect(svg.hasSuffix("</svg>") && !svg.contains("nan") && !svg.contains("inf"))
  }

  @Test func manyCellsShareTheHeight() {
    let cells = (0..<5000).map {
      ScrollReport.Cell(item: $0, inView: .milliseconds($0), ready: .zero)
    }
    let report = ScrollReport(
      cells: cells, duration: .seconds(5), restsAt: .seconds(5), downloadedBytes: 0, unseenBytes: 0)
    #expect(ScrollTimeline(report).svg.contains("viewBox=\"0 0 960 2528\""))
  }
}
