@testable import PipelineTestSupport
@testable import ThumbnailCore
@testable import Thumbnailer

/// Whose decodes run: no client has more than half of the workers and of the memory.
@Suite(.timeLimit(.minutes(5))) struct DecodeTurnsTests {
  private static func job(_ clients: String...) throws -> JobContext {
    let source = ImageSource(try #require(URL(string: "http://example.org/a.jpg")))
    let job = JobContext(source, priority: PriorityControl(.visible))
    for client in clients { try join(job, client) }
    return job
  }

  private static func join(_ job: JobContext, _ client: String) throws {
    var request = ThumbnailRequest(job.source, variant: Variant(size: PixelSize(1, 1), fit: .cover))
    request.client = client
    job.add(request)
  }

  @Test func aClientHasHalfOfTheWorkersAndOthersDoNotWaitForIt() async throws {
    let turns = DecodeTurns(workers: 4, bytes: 1000)
    let held = [try await turns.turn(of: 1, for: Self.job("a")), try await turns.turn(of: 1, for: Self.job("a"))]
    let begun = Counter()
    let waiting = Task {
      let turn = try await turns.turn(of: 1, for: Self.job("a"))
      begun.increment()
      return turn
    }
    #expect(try await turns.turn(of: 1, for: Self.job("b")) != nil)
    // Of nobody in particular.
    #expect(try await turns.turn(of: 1, for: Self.job()) == nil)
    #expect(begun.value == 0)
    held[0]?.end()
    held[0]?.end()
    #expect(try await waiting.value != nil)
  }

  @Test func aTurnWithoutWaitingIsOneThatNobodyWaitsFor() async throws {
    let turns = DecodeTurns(workers: 2, bytes: 1000)
    let (job, other) = (try Self.job("a"), try Self.job("b"))
    let held = turns.turnNow(of: 1, for: job)
    #expect(held != nil && turns.turnNow(of: 1, for: job) == nil)
    let waiting = Task { try await turns.turn(of: 1, for: job) }
    let shared = try Self.job("a", "b")
    await poll { turns.turnNow(of: 1, for: shared) == nil }
    // Another client's decode does not wait for it.
    #expect(turns.turnNow(of: 1, for: other) != nil)
    held?.end()
    #expect(try await waiting.value != nil)
  }

  @Test func aClientHasHalfOfTheMemoryOrOneDecode() async throws {
    let turns = DecodeTurns(workers: 100, bytes: 1000)
    var large = try await turns.turn(of: 900, for: Self.job("a"))
    let waiting = Task { try await turns.turn(of: 1, for: Self.job("a")) }
    #expect(try await turns.turn(of: 400, for: Self.job("b")) != nil)
    #expect(large != nil)
    // Dropped without an end.
    large = nil
    #expect(try await waiting.value != nil)
  }

  @Test func aDecodeThatAnotherClientWaitsForTooTakesThatOnesPart() async throws {
    let turns = DecodeTurns(workers: 2, bytes: 1000)
    let held = try await turns.turn(of: 1, for: Self.job("a"))
    let shared = try Self.job("a")
    let waiting = Task { try await turns.turn(of: 1, for: shared) }
    try Self.join(shared, "b")
    turns.admit()
    #expect(try await waiting.value != nil)
    withExtendedLifetime(held) {}
  }

  @Test func smallDecodesDoNotOvertakeALargeOneOfTheSameClient() async throws {
    let turns = DecodeTurns(workers: 100, bytes: 1000)
    let job = try Self.job("a")
    let held = (turns.turnNow(of: 200, for: job), turns.turnNow(of: 200, for: job))
    let order = Recorder<Int>()
    func waiting(of bytes: Int) -> Task<DecodeTurns.Turn?, any Error> {
      Task {
        let turn = try await turns.turn(of: bytes, for: job)
        order.append(bytes)
        return turn
      }
    }
    let large = waiting(of: 400)
    await poll { turns.turnNow(of: 1, for: job) == nil }
    let small = waiting(of: 50)
    #expect(try await turns.turn(of: 1, for: Self.job("b")) != nil)
    #expect(order.values.isEmpty)
    held.0?.end()
    held.1?.end()
    #expect(try await large.value != nil)
    #expect(try await small.value != nil)
  }

  @Test func whoLeavesTheQueueTakesNoTurn() async throws {
    let turns = DecodeTurns(workers: 2, bytes: 1000)
    let held = try await turns.turn(of: 1, for: Self.job("a"))
    let leaving = Task { try await turns.turn(of: 1, for: Self.job("a")) }
    leaving.cancel()
    await #expect(throws: ThumbnailError.cancelled) { try await leaving.value }
    held?.end()
    #expect(try await turns.turn(of: 1, for: Self.job("a")) != nil)
  }

  @Test func whatIsNotStoredIsNotLoadedForWhoWantsWhatIsStored() async throws {
    let fixture = try PipelineFixture()
    var request = fixture.request()
    request.options.isStoredOnly = true
    await #expect(throws: ThumbnailError.notCached) { try await fixture.pipeline.thumbnail(for: request) }
    #expect(fixture.origin.requests.isEmpty && fixture.pipeline.statistics.failures == 0)
    _ = try await fixture.pipeline.thumbnail(for: fixture.request())
    let restarted = try await fixture.restarted()
    #expect(try await restarted.response(for: request).origin == .disk)
    // A file is not read either.
    let file = ThumbnailRequest(
      .file(at: TestImages.url("formats/jpeg-420.jpg")), variant: Variant(size: PixelSize(40, 40), fit: .cover))
    var stored = file
    stored.options.isStoredOnly = true
    await #expect(throws: ThumbnailError.notCached) { try await restarted.thumbnail(for: stored) }
    _ = try await restarted.thumbnail(for: file)
    #expect(try await restarted.thumbnail(for: stored).data.isEmpty == false)
  }
}
