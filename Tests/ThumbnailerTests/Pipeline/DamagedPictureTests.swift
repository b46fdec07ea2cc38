@testable import CodecTestSupport
@testable import PipelineTestSupport

/// Damaged pictures in a pipeline that accepts them, and in one that does not.
@Suite(.timeLimit(.minutes(5))) struct DamagedPictureTests {
  private func half() throws -> [UInt8] {
    let file = try TestPicture.texture(240, 240).encoded("jpegsave_buffer", "Q=90")
    return Array(file.prefix(file.count / 2))
  }

  @Test func refusedUnlessAskedOtherwise() async throws {
    let part = try half()
    let fixture = try PipelineFixture { _ in .ok(part, type: "image/jpeg") }
    let error = await fixture.pipeline.failure(fixture.request())
    #expect(error?.code == "damaged" && error?.message.contains("(damaged)") == true)
    #expect(fixture.pipeline.statistics.damaged == 0)
  }

  @Test func whatIsAcceptedIsMarkedAndNotStored() async throws {
    let part = try half()
    let fixture = try PipelineFixture(configuring: { $0.damaged = .accept }) { _ in .ok(part, type: "image/jpeg") }
    let first = try await fixture.pipeline.response(for: fixture.request())
    #expect(first.thumbnail.isDamaged && !first.isStored && first.origin == .source)
    #expect(fixture.pipeline.statistics.damaged == 1 && fixture.pipeline.statistics.storedBytes == 0)
    // In memory it stays what it is.
    let second = try await fixture.pipeline.response(for: fixture.request())
    #expect(second.origin == .memory && second.thumbnail.isDamaged)
    let strict = try await fixture.restarted()
    #expect(await strict.failure(fixture.request())?.code == "damaged")
  }

  @Test func aSmallerSizeOfADamagedThumbnailIsDamagedToo() async throws {
    let part = try half()
    let fixture = try PipelineFixture(configuring: { $0.damaged = .accept }) { _ in .ok(part, type: "image/jpeg") }
    _ = try await fixture.pipeline.thumbnail(for: fixture.request("/a.jpg", PixelSize(120, 120))) as Thumbnail
    let small = try await fixture.pipeline.response(for: fixture.request("/a.jpg", PixelSize(30, 30)))
    #expect(small.thumbnail.isDamaged && !small.isStored)
    #expect(fixture.pipeline.statistics.storedBytes == 0)
  }
}
