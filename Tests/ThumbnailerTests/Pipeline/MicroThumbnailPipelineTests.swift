@testable import PipelineTestSupport
@testable import Thumbnailer

/// Micro thumbnails come from the decode of their thumbnail, where a request wants them.
@Suite(.timeLimit(.minutes(1)))
struct MicroThumbnailPipelineTests {
  private func wanting(_ request: ThumbnailRequest) -> ThumbnailRequest {
    var request = request
    request.makesMicroThumbnail = true
    return request
  }

  @Test func oneDecodeMakesBothAndAnotherRunHasBoth() async throws {
    let fixture = try PipelineFixture()
    let request = wanting(fixture.request())
    let thumbnail = try await fixture.pipeline.thumbnail(for: request)
    let micro = try #require(thumbnail.microThumbnail)
    #expect(micro.count <= 1024 && fixture.pipeline.statistics.decodes == 1)
    #expect(fixture.pipeline.cachedMicroThumbnail(of: request.source) == micro)
    let again = try await fixture.restarted()
    #expect(again.cachedMicroThumbnail(of: request.source) == nil)
    #expect(await again.microThumbnail(of: request.source) == micro)
    #expect(again.cachedMicroThumbnail(of: request.source) == micro)
    #expect(try await again.thumbnail(for: request).data == thumbnail.data)
    #expect(fixture.origin.requests.count == 1 && again.statistics.decodes == 0)
  }

  @Test func aPlainRequestMakesNone() async throws {
    let fixture = try PipelineFixture()
    #expect(try await fixture.pipeline.thumbnail(for: fixture.request()).microThumbnail == nil)
    #expect(await fixture.pipeline.microThumbnails(of: [fixture.request().source]) == [nil])
  }

  @Test func aRequestThatJoinsAddsItsWish() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture { _ in .picture.held(by: gate) }
    let (first, second) = (fixture.request(), wanting(fixture.request()))
    async let plain = fixture.pipeline.thumbnail(for: first)
    await poll { fixture.origin.requests.count == 1 }
    async let other = fixture.pipeline.thumbnail(for: second)
    await poll { fixture.pipeline.statistics.joins == 1 }
    gate.open()
    #expect(try await plain == other)
    #expect(try await other.microThumbnail != nil)
  }

  @Test func removingTheImageRemovesIt() async throws {
    let fixture = try PipelineFixture()
    let request = wanting(fixture.request())
    _ = try await fixture.pipeline.thumbnail(for: request)
    await fixture.pipeline.remove(request.source)
    #expect(fixture.pipeline.cachedMicroThumbnail(of: request.source) == nil)
    #expect(await fixture.pipeline.microThumbnail(of: request.source) == nil)
  }

  @Test func aPrefetcherReadsThoseAroundTheViewAhead() async throws {
    let first = try PrefetcherFixture(items: 40)
    for row in stride(from: 0, to: 40, by: 4) {
      first.show(row: row)
      await first.prefetcher.waitUntilSettled()
    }
    // Its memory has nothing yet.
    let pipeline = try await first.fixture.restarted { $0.cacheMode = .offline }
    let prefetcher = Prefetcher(pipeline: pipeline, layout: first.prefetcher.layout)
    prefetcher.setItems(first.sources(40))
    prefetcher.setViewport(Viewport(offset: 0, height: 400))
    await poll { (0..<40).allSatisfy { prefetcher.cachedMicroThumbnail(at: $0) != nil } }
    #expect((0..<40).allSatisfy { prefetcher.cachedMicroThumbnail(at: $0) != nil })
    // Far fewer thumbnails than that are read ahead.
    #expect(pipeline.statistics.diskHits < 40)
  }
}
