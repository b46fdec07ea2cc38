@testable import PipelineTestSupport
@testable import ThumbnailCache
@testable import Thumbnailer

/// SCENARIOS, coalescing, 1 to 15. Numbers 5, 6 and 13 have nothing to test here: there are no requests for raw data, no
/// chains of processors, and coalescing cannot be turned off.
@Suite(.timeLimit(.minutes(5))) struct CoalescingTests {
  @Test func threeSizesOfOnePictureShareOneDownloadAndOneDecode() async throws {
    let fixture = try PipelineFixture()
    let sizes = [PixelSize(80, 60), PixelSize(20, 15), PixelSize(40, 30)]
    let results = await fixture.pipeline.responses(
      for: ImageSource(fixture.origin.url("/a.jpg")), variants: sizes.map { Variant(size: $0, fit: .cover) })
    #expect(try results.map { try $0.get().thumbnail.size } == sizes)
    #expect(fixture.origin.requests.count == 1)
    #expect(fixture.pipeline.statistics.decodes == 1)
  }

  @Test func twoFormsOfOnePictureShareTheCacheAndNotTheDownload() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture { _ in .picture.held(by: gate) }
    let small = ImageSource(fixture.origin.url("/p?w=20"), identity: "photo:1")
    let large = ImageSource(fixture.origin.url("/p?w=160"), identity: "photo:1")
    async let first = fixture.pipeline.thumbnail(
      for: ThumbnailRequest(small, variant: Variant(size: PixelSize(20, 20), fit: .cover)))
    await poll { fixture.origin.requests.count == 1 }
    async let second = fixture.pipeline.thumbnail(
      for: ThumbnailRequest(large, variant: Variant(size: PixelSize(100, 100), fit: .cover)))
    await poll { fixture.origin.requests.count == 2 }
    gate.open()
    #expect(try await [first.size.width, second.size.width] == [20, 100])
    let again = ThumbnailRequest(small, variant: Variant(size: PixelSize(100, 100), fit: .cover))
    #expect(try await fixture.pipeline.response(for: again).origin == .memory)
  }

  @Test func whatWasAskedIsStoredAndNothingElse() async throws {
    let fixture = try PipelineFixture()
    let source = ImageSource(fixture.origin.url("/a.jpg"))
    let variants = [Variant(size: PixelSize(80, 60), fit: .cover), Variant(size: PixelSize(20, 15), fit: .cover)]
    _ = await fixture.pipeline.responses(for: source, variants: variants)
    await fixture.pipeline.flush()
    let disk = try DiskCache(directory: fixture.directory.url, byteLimit: 1 << 20)
    #expect(Set(try disk.reading(source.key) { try $0.variants() }) == Set(variants))
  }

  @Test func aSmallerThumbnailIsShrunkFromAStoredOne() async throws {
    let fixture = try PipelineFixture()
    _ = try await fixture.pipeline.thumbnail(for: fixture.request("/a.jpg", PixelSize(80, 60)))
    let fromMemory = try await fixture.pipeline.response(for: fixture.request("/a.jpg", PixelSize(40, 30)))
    #expect(fromMemory.origin == .shrunk)
    #expect(fromMemory.thumbnail.size == PixelSize(40, 30))
    #expect(fromMemory.thumbnail.source.size == PixelSize(160, 120))
    let restarted = try await fixture.restarted()
    let fromDisk = try await restarted.response(for: fixture.request("/a.jpg", PixelSize(20, 15)))
    #expect(fromDisk.origin == .shrunk)
    #expect(fixture.origin.requests.count == 1)
  }

  @Test(arguments: [(Fit.contain, PixelSize(15, 11)), (.cover, PixelSize(15, 15))])
  func aShrunkThumbnailHasTheSizeOfANewOne(fit: Fit, size: PixelSize) async throws {
    let fixture = try PipelineFixture()
    let source = ImageSource(fixture.origin.url("/a.jpg"))
    func request(_ side: Int) -> ThumbnailRequest {
      ThumbnailRequest(source, variant: Variant(size: PixelSize(side, side), fit: fit))
    }
    // 160×120 contained in 30×30 is 30×22.5, rounded to 30×23, whose half would be rounded to 15×12.
    _ = try await fixture.pipeline.thumbnail(for: request(30))
    let shrunk = try await fixture.pipeline.response(for: request(15))
    #expect(shrunk.origin == .shrunk && shrunk.thumbnail.size == size)
    let new = try await PipelineFixture().pipeline.thumbnail(
      for: ThumbnailRequest(source, variant: Variant(size: PixelSize(15, 15), fit: fit)))
    #expect(new.size == size)
  }

  @Test func aFailureReachesAllWaitersOnce() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture { _ in .status(404).held(by: gate) }
    let tasks = (0..<5).map { _ in
      Task { try await fixture.pipeline.thumbnail(for: fixture.request()) as Thumbnail }
    }
    await poll { fixture.pipeline.statistics.joins == 4 }
    gate.open()
    for task in tasks { #expect(await failure(of: task)?.code == "not-found") }
    #expect(fixture.origin.requests.count == 1)
    #expect(fixture.pipeline.statistics.failures == 5)
    #expect(fixture.pipeline.activeJobs == 0)
  }

  @Test func joiningAgainAndAgainNeverLosesAnAnswer() async throws {
    let fixture = try PipelineFixture(configuring: { $0.memoryCacheLimit = ByteSize(bytes: 0) }) { _ in .picture }
    await withTaskGroup(of: Bool.self) { group in
      for round in 0..<200 {
        group.addTask {
          let size = PixelSize(10 + round % 7, 10)
          return (try? await fixture.pipeline.thumbnail(for: fixture.request("/\(round % 3)", size))) != nil
        }
      }
      for await answered in group { #expect(answered) }
    }
    #expect(fixture.pipeline.activeJobs == 0)
  }

  @Test func theOthersGoOnWhenTheFirstIsCancelled() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture { _ in .picture.held(by: gate) }
    let leader = Task { try await fixture.pipeline.thumbnail(for: fixture.request()) as Thumbnail }
    await poll { fixture.origin.requests.count == 1 }
    let joiner = Task { try await fixture.pipeline.thumbnail(for: fixture.request()) as Thumbnail }
    await poll { fixture.pipeline.statistics.joins == 1 }
    leader.cancel()
    #expect(await failure(of: leader) == .cancelled)
    gate.open()
    #expect(try await joiner.value.size == PixelSize(40, 40))
    #expect(fixture.origin.requests.count == 1)
  }

  @Test func aThousandWaitersShareOneDownload() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture { _ in .picture.held(by: gate) }
    let tasks = (0..<1000).map { _ in
      Task { try await fixture.pipeline.thumbnail(for: fixture.request()).size as PixelSize }
    }
    await poll { fixture.pipeline.statistics.joins == 999 }
    gate.open()
    for task in tasks { #expect(try await task.value == PixelSize(40, 40)) }
    #expect(fixture.origin.requests.count == 1)
  }
}
