import CoreMetrics
import MetricsTestKit

@testable import PipelineTestSupport
@testable import Thumbnailer
@testable import ThumbnailerMetrics

/// What reaches a metrics system, and what docs/observability.md says of it.
@Suite(.timeLimit(.minutes(5))) struct PipelineMetricsTests {
  private let factory = TestMetrics()

  private func total(_ name: String, _ dimensions: [(String, String)] = []) throws -> Int64 {
    try factory.expectCounter("thumbnailer_\(name)", dimensions).totalValue
  }

  @Test func everyCounterIsReportedOnce() {
    let reported = CounterReport.metrics.map(\.counter)
    let byCode = ["failures", "offlineMisses"]
    #expect((reported + byCode).sorted() == PipelineStatistics().counters.map(\.name).sorted())
    let metrics = CounterReport.metrics.map { "\($0.name) \($0.dimensions)" }
    #expect(Set(metrics).count == metrics.count)
  }

  @Test func thePageNamesEveryMetricAndNoOther() throws {
    let fixture = try PipelineFixture()
    let metrics = PipelineMetrics(fixture.pipeline, factory: factory)
    metrics.events.record(.failed([Variant(size: PixelSize(1, 1))], .notCached))
    let made = Set(
      factory.counters.map(\.label) + factory.recorders.map(\.label) + factory.timers.map(\.label))
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(contentsOf: root.appendingPathComponent("docs/observability.md"), encoding: .utf8)
    let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `thumbnailer_") }
    let named = Set(rows.map { String($0.dropFirst(3).prefix { $0 != "`" && $0 != "{" }) })
    #expect(named == made)
  }

  @Test func countersGrowByWhatHappenedSinceTheLastTime() async throws {
    let fixture = try PipelineFixture()
    let metrics = PipelineMetrics(fixture.pipeline, factory: factory)
    _ = try await fixture.pipeline.thumbnail(for: fixture.request())
    metrics.update()
    metrics.update()
    #expect(try total("thumbnails_total", [("origin", "source")]) == 1)
    #expect(try total("downloads_total") == 1)
    let bytes = try total("downloaded_bytes_total")
    #expect(bytes == Int64(fixture.pipeline.statistics.downloadedBytes) && bytes > 1000)
    _ = try await fixture.pipeline.thumbnail(for: fixture.request())
    metrics.update()
    #expect(try total("thumbnails_total", [("origin", "memory")]) == 1)
    #expect(try total("thumbnails_total", [("origin", "source")]) == 1)
  }

  @Test func aCounterThatWasCorrectedDownwardsIsNotReportedTwice() throws {
    let report = CounterReport(MetricNaming(prefix: "thumbnailer", dimensions: [], factory: factory))
    for bytes in [100, 60, 90, 130] {
      var statistics = PipelineStatistics()
      statistics.storedBytes = bytes
      report.update(from: statistics)
    }
    #expect(try total("stored_bytes_total") == 130)
  }

  @Test func gaugesHaveTheCurrentValues() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture { _ in .ok(Data()).held(by: gate) }
    defer { gate.open() }
    let metrics = PipelineMetrics(fixture.pipeline, factory: factory)
    let request = Task { try await fixture.pipeline.thumbnail(for: fixture.request()) }
    await poll { fixture.origin.requests.count == 1 }
    metrics.update()
    #expect(try factory.expectGauge("thumbnailer_active_jobs").lastValue == 1)
    #expect(try factory.expectGauge("thumbnailer_in_flight_bytes").lastValue ?? 0 > 0)
    request.cancel()
    _ = try? await request.value
    await poll { fixture.pipeline.bytesInFlight == 0 }
    metrics.update()
    #expect(try factory.expectGauge("thumbnailer_active_jobs").lastValue == 0)
    #expect(try factory.expectGauge("thumbnailer_in_flight_bytes").lastValue == 0)
  }

  @Test func durationsAndFailuresAreReportedAsTheyCome() async throws {
    let picture = try TestImages.bytes("formats/jpeg-420.jpg")
    let fixture = try PipelineFixture { $0.path == "/missing" ? .status(404) : .ok(picture) }
    let metrics = PipelineMetrics(fixture.pipeline, dimensions: [("pipeline", "a")], factory: factory)
    let reporting = Task { await metrics.run() }
    await poll { fixture.pipeline.stages.monitor.events.subscriberCount == 2 }
    _ = try await fixture.pipeline.thumbnail(for: fixture.request())
    _ = try? await fixture.pipeline.thumbnail(for: fixture.request("/missing"))
    await poll { (try? total("failures_total", [("pipeline", "a"), ("code", "not-found")])) == 1 }
    await fixture.pipeline.flush()
    await poll {
      (try? factory.expectTimer("thumbnailer_commit_duration_seconds", [("pipeline", "a")]))?.values.isEmpty == false
    }
    for name in [
      "download_duration_seconds", "decode_wait_seconds", "decode_duration_seconds", "encode_duration_seconds",
    ] {
      let timer = try factory.expectTimer("thumbnailer_\(name)", [("pipeline", "a")])
      #expect(timer.values.count == 1 && timer.values.allSatisfy { $0 > 0 }, "\(name)")
    }
    let sizes = try factory.expectRecorder("thumbnailer_download_size_bytes", [("pipeline", "a")])
    #expect(sizes.values == [Double(picture.count)])
    reporting.cancel()
    await reporting.value
    #expect(try total("thumbnails_total", [("pipeline", "a"), ("origin", "source")]) == 1)
  }

  @Test func eachWaiterOfAFailedThumbnailIsCounted() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture { _ in .ok(Data("<html>".utf8)).held(by: gate) }
    let metrics = PipelineMetrics(fixture.pipeline, factory: factory)
    let reporting = Task { await metrics.run() }
    defer { reporting.cancel() }
    await poll { fixture.pipeline.stages.monitor.events.subscriberCount == 2 }
    async let first = fixture.pipeline.response(for: fixture.request())
    await poll { fixture.pipeline.activeJobs == 1 }
    async let second = fixture.pipeline.response(for: fixture.request())
    await poll { fixture.pipeline.statistics.joins == 1 }
    gate.open()
    _ = try? await first
    _ = try? await second
    await poll { (try? total("failures_total", [("code", "not-a-picture")])) == 2 }
    #expect(fixture.pipeline.statistics.failures == 2)
  }

  @Test func reportingEndsWithThePipelineAndDoesNotKeepIt() async throws {
    let directory = try TemporaryDirectory()
    let (metrics, reporting) = try await { () async throws -> (PipelineMetrics, Task<Void, Never>) in
      let pipeline = try ThumbnailPipeline(.init(cacheDirectory: directory.url))
      let metrics = PipelineMetrics(pipeline, factory: factory)
      let reporting = Task { await metrics.run() }
      await poll { pipeline.stages.monitor.events.subscriberCount == 1 }
      return (metrics, reporting)
    }()
    await reporting.value
    metrics.update()
  }

  @Test func withoutAMetricsSystemNothingIsRead() async throws {
    let fixture = try PipelineFixture()
    let metrics = PipelineMetrics(fixture.pipeline, factory: NOOPMetricsHandler.instance)
    await metrics.run()
    #expect(fixture.pipeline.stages.monitor.events.subscriberCount == 1)
  }
}
