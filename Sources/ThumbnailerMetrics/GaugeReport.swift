import CoreMetrics
import Thumbnailer

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
