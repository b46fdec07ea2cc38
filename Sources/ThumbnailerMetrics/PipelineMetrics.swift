// The module ThumbnailerMetrics: reports a pipeline's work to swift-metrics. A product of its own, so that other
// programs do not build swift-metrics.

public import CoreMetrics
public import Thumbnailer

/// Reports a pipeline's counters, gauges and durations to swift-metrics, under names in the style of Prometheus.
///
/// docs/observability.md lists the metrics. Counters and gauges are read from the pipeline at intervals, durations and
/// failures come from its events: nothing is measured a second time, and without a metrics system nothing is read.
/// Does not keep the pipeline alive. May be used from any task.
///
///     let metrics = PipelineMetrics(pipeline)
///     let reporting = Task { await metrics.run() }
public final class PipelineMetrics: Sendable {
  /// More than the default of a listener, so that a burst of memory hits does not displace a failure.
  private static let mostPendingEvents = 1 << 16

  private let pipeline: @Sendable () -> ThumbnailPipeline?
  private let isWanted: Bool
  private let counters: CounterReport
  private let gauges: GaugeReport
  /// The report of events; tests send their own events.
  let events: EventReport

  /// Metrics of one pipeline.
  ///
  /// - Parameters:
  ///   - prefix: The beginning of all names.
  ///   - dimensions: Added to all metrics, to distinguish several pipelines of a program.
  ///   - factory: The metrics system. Default: the one that the program has bootstrapped.
  public init(
    _ pipeline: ThumbnailPipeline, prefix: String = "thumbnailer", dimensions: [(String, String)] = [],
    factory: any MetricsFactory = MetricsSystem.factory
  ) {
    self.pipeline = { [weak pipeline] in pipeline }
    isWanted = !(factory is NOOPMetricsHandler)
    let naming = MetricNaming(prefix: prefix, dimensions: dimensions, factory: factory)
    counters = CounterReport(naming)
    gauges = GaugeReport(naming)
    events = EventReport(naming)
  }

  /// Reports until the pipeline is deallocated or the calling task is cancelled: events as they come, counters and
  /// gauges at each interval, and once more at the end. Returns at once if no metrics system was bootstrapped.
  public func run(every interval: Duration = .seconds(5)) async {
    guard isWanted, let stream = pipeline()?.events(bufferingNewest: Self.mostPendingEvents) else { return }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { for await event in stream { self.events.record(event.kind) } }
      group.addTask {
        while !Task.isCancelled {
          self.update()
          try? await Task.sleep(for: interval)
        }
      }
      await group.next()
      group.cancelAll()
    }
    update()
  }

  /// Reports the counters and gauges as they are now, such as just before they are scraped.
  public func update() {
    guard isWanted, let pipeline = pipeline() else { return }
    counters.update(from: pipeline.statistics)
    gauges.update(from: pipeline)
  }
}

/// The names of metrics, and the factory that makes them.
struct MetricNaming {
  let prefix: String
  let dimensions: [(String, String)]
  let factory: any MetricsFactory

  func counter(_ name: String, _ dimensions: [(String, String)] = []) -> Counter {
    Counter(label: "\(prefix)_\(name)", dimensions: self.dimensions + dimensions, factory: factory)
  }

  func gauge(_ name: String) -> Gauge {
    Gauge(label: "\(prefix)_\(name)", dimensions: dimensions, factory: factory)
  }

  /// A distribution of values.
  func histogram(_ name: String) -> Recorder {
    Recorder(label: "\(prefix)_\(name)", dimensions: dimensions, aggregate: true, factory: factory)
  }

  func timer(_ name: String) -> Timer {
    Timer(label: "\(prefix)_\(name)", dimensions: dimensions, factory: factory)
  }
}

/// Reports the current values of a pipeline.
struct GaugeReport: Sendable {
  private let activeJobs: Gauge
  private let waitingDownloads: Gauge
  private let silentDownloads: Gauge
  private let bytesInFlight: Gauge

  init(_ naming: MetricNaming) {
    activeJobs = naming.gauge("active_jobs")
    waitingDownloads = naming.gauge("waiting_downloads")
    silentDownloads = naming.gauge("silent_downloads")
    bytesInFlight = naming.gauge("in_flight_bytes")
  }

  func update(from pipeline: ThumbnailPipeline) {
    activeJobs.record(pipeline.activeJobs)
    waitingDownloads.record(pipeline.waitingDownloads)
    silentDownloads.record(pipeline.silentDownloads.values.reduce(0, +))
    bytesInFlight.record(pipeline.bytesInFlight)
  }
}
