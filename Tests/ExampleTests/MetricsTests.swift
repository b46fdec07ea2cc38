import MetricsTestKit
import Testing
import Thumbnailer
import ThumbnailerMetrics

@Suite(.timeLimit(.minutes(5))) struct MetricsTests {
  @Test func thePageShowsThisCode() throws {
    #expect(try Snippet("Metrics").isShown(in: "docs/observability.md"))
  }

  @Test func whatAPipelineDoesIsReported() async throws {
    let example = try Example()
    let (pipeline, factory) = (example.pipeline, TestMetrics())
    _ = try await pipeline.thumbnail(for: example.request("/a.jpg"))
    // Metrics begins
    let metrics = PipelineMetrics(pipeline, factory: factory)  // by default what MetricsSystem was bootstrapped with
    let reporting = Task { await metrics.run(every: .seconds(10)) }

    // Before a scrape, where there are any: the counters and gauges as they are now.
    metrics.update()

    // At the end of the program; reports once more.
    reporting.cancel()
    await reporting.value
    // Metrics ends
    let made = try factory.expectCounter("thumbnailer_thumbnails_total", [("origin", "source")])
    #expect(made.totalValue == 1)
  }
}
