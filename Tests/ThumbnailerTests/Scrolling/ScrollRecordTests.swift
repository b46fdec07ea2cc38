import Foundation
import TestOrigin
import Testing

@testable import PipelineTestSupport
@testable import TestSupport
@testable import Thumbnailer
@testable import scroll_player

/// What is noted of cells in the course of a scroll.
@Suite(.timeLimit(.minutes(5))) struct ScrollRecordTests {
  @Test func aCellIsCompleteOnlyWhenItIsKnownWhatItTook() async throws {
    // Given thumbnails that are in memory before the prefetcher says so
    let fixture = try PrefetcherFixture(items: 4)
    let record = ScrollRecord(pipeline: fixture.pipeline)
    let bytes = try TestImages.bytes("formats/jpeg-420.jpg").count
    var told: [PrefetcherEvent] = []
    for item in 0..<4 {
      let response = try await fixture.pipeline.response(for: fixture.request(item))
      told.append(.ready(index: item, source: fixture.source(item), response: response))
    }
    fixture.show(row: 0)
    let start = ContinuousClock.now
    record.look(at: fixture.prefetcher, isFirstScreen: true, now: start)
    #expect(!record.isComplete(0..<4))

    // When it has said so
    for event in told { record.take(event) }

    // Then they are complete, were ready on sight, and none of their bytes was for nobody
    #expect(record.isComplete(0..<4))
    let report = record.report(since: start, statistics: fixture.pipeline.statistics)
    #expect(report.cells.map(\.wait) == [.zero, .zero, .zero, .zero])
    #expect(report.downloadedBytes == 4 * bytes && report.unseenBytes == 0)
  }
}
