import Foundation
import TestOrigin
import Testing

@testable import PipelineTestSupport
@testable import TestSupport
@testable import ThumbnailCore
@testable import Thumbnailer

/// The figure that is promised for revalidation, without its speed: `Benchmarks/revalidate` measures that.
@Suite(.timeLimit(.minutes(5))) struct ManyRevalidationsTests {
  @Test func aThousandStalePicturesAreConfirmedWithoutABody() async throws {
    let fixture = try RevalidationFixture()
    let requests = (0..<1000).map { fixture.request(PixelSize(20, 20), "/\($0).jpg") }
    for await (_, result) in fixture.pipeline.thumbnails(for: requests) {
      #expect(throws: Never.self) { try result.get() }
    }
    fixture.clock.advance(by: 61)
    let connections = fixture.fixture.origin.connectionCount
    var origins: Set<ThumbnailResponse.Origin> = []
    for await (_, result) in fixture.pipeline.thumbnails(for: requests) { origins.insert(try result.get().origin) }
    #expect(origins == [.revalidated])
    let asked = fixture.fixture.origin.requests.dropFirst(1000)
    #expect(asked.count == 1000 && asked.allSatisfy { $0.bodyBytesSent == 0 })
    #expect(Set(asked.map(\.path)).count == 1000)
    #expect(fixture.statistics.revalidations == 1000 && fixture.statistics.downloads == 1000)
    // Over the connections that are there.
    #expect(fixture.fixture.origin.connectionCount <= connections + 6)
    // All of it is known after a restart.
    let restarted = try await fixture.restarted()
    for await (_, result) in restarted.thumbnails(for: requests) { #expect(try result.get().origin == .disk) }
    #expect(fixture.fixture.origin.requests.count == 2000)
  }
}
