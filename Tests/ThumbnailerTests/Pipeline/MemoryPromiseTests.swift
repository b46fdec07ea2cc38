@testable import PipelineTestSupport

/// SCENARIOS, memory, 87 and 88, as far as they can be seen from inside; the peaks are measured in `Benchmarks`.
@Suite(.timeLimit(.minutes(5))) struct MemoryPromiseTests {
  @Test func noMoreBodiesAreHeldThanThereIsMemoryForHoweverManySlotsThereAre() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture(configuring: {
      $0.memoryBudget = .mebibytes(16)
      $0.downloads = 64
      $0.downloadsPerHost = 64
      $0.jobs = 1
    }) { _ in .picture.held(by: gate) }
    let tasks = (0..<40).map { number in
      Task { try await fixture.pipeline.thumbnail(for: fixture.request("/\(number)")) as Thumbnail }
    }
    // A quarter of 16 MiB, in shares of 256 KiB.
    await poll { fixture.origin.runningRequests == 16 }
    gate.open()
    for task in tasks { _ = try await task.value }
    #expect(fixture.origin.maximumSimultaneousRequests == 16)
  }

  @Test func redirectsAndDirectDownloadsNeverWaitForEachOther() async throws {
    let target = try Origin.picture()
    // Few shares, few slots, and half of the downloads reach the other host by a redirect.
    let fixture = try PipelineFixture(configuring: {
      $0.memoryBudget = .mebibytes(16)
      $0.downloads = 64
      $0.downloadsPerHost = 2
      $0.jobs = 1
    }) { .redirect(to: target.url($0.path).absoluteString) }
    let sources = (0..<60).map { number in
      number % 2 == 0
        ? ImageSource(target.url("/direct\(number)")) : ImageSource(fixture.origin.url("/redirected\(number)"))
    }
    let requests = sources.map { ThumbnailRequest($0, variant: Variant(size: PixelSize(40, 40), fit: .cover)) }
    var made = 0
    for await (_, result) in fixture.pipeline.thumbnails(for: requests, window: 60) where (try? result.get()) != nil {
      made += 1
    }
    #expect(made == 60)
  }

  @Test func aVariantThatCostsTooMuchLeavesTheOthersAlone() async throws {
    let fixture = try PipelineFixture(configuring: { $0.memoryBudget = .mebibytes(16) }) { _ in
      .ok((try? TestImages.bytes("gallery/alps/spring-meadow.jpg")) ?? Data())
    }
    let small = Variant(size: PixelSize(100, 100), fit: .cover, format: .jpeg)
    let large = Variant(size: PixelSize(2900, 1900), fit: .cover, format: .avif)
    let results = await fixture.pipeline.responses(
      for: ImageSource(fixture.origin.url("/a.jpg")), variants: [large, small])
    guard case .failure(let error) = results[0] else {
      Issue.record("it should cost too much")
      return
    }
    #expect(error.code == "too-large")
    #expect(try results[1].get().thumbnail.size == PixelSize(100, 100))
  }

  @Test func bodiesThatWaitForTheirDecodeDoNotStarveAnotherHost() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture(configuring: {
      $0.downloads = 8
      $0.downloadsPerHost = 2
    }) { $0.path.hasPrefix("/slow") ? .picture.held(by: gate) : .picture }
    let slow = (0..<30).map { number in
      Task { try await fixture.pipeline.thumbnail(for: fixture.request("/slow\(number)")) as Thumbnail }
    }
    await poll { fixture.origin.runningRequests == 2 && fixture.pipeline.waitingDownloads == 28 }
    // The same origin under another name is another host.
    let other = ImageSource(fixture.origin.url("/quick", host: "localhost"))
    let quick = ThumbnailRequest(other, variant: Variant(size: PixelSize(40, 40), fit: .cover))
    _ = try await fixture.pipeline.thumbnail(for: quick)
    gate.open()
    for task in slow { _ = try await task.value }
  }
}
