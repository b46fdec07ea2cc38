import HTTPTransport
import ImageCodec
import ThumbnailCore

/// Reads local files that the user named, in place: no transfer, no slot, no share of the memory for bodies.
struct FileLoader: BodyLoader {
  let configuration: ThumbnailPipeline.Configuration
  let workers: WorkerPool
  let monitor: PipelineMonitor
  /// Limits the files that are open at once.
  private let openFiles: WeightedSemaphore

  init(configuration: ThumbnailPipeline.Configuration, workers: WorkerPool, monitor: PipelineMonitor) {
    (self.configuration, self.workers, self.monitor) = (configuration, workers, monitor)
    openFiles = WeightedSemaphore(capacity: configuration.openFiles)
  }

  /// Opens a file and reads its header, in one work item of a worker thread.
  func load(
    for job: JobContext, isWhole: Bool, insteadOf spent: SourceBody.Spent?
  ) async throws(FetchFailure) -> SourceBody {
    defer { job.progress.setComplete(true) }
    let permit: WeightedSemaphore.Reservation
    let opened: Result<(LocalFile, Result<ImageProbe, CodecError>), DownloadError>
    do {
      permit = try await openFiles.reserve(1, priority: job.priority)
      opened = try await workers.run(priority: job.priority) { [limits = job.policy.limits, path = job.source.url] _ in
        Result { () throws(DownloadError) in
          let file = try LocalFile(path: RawPath(fileURL: path), byteLimit: limits.maximumBytes)
          return (file, Result { () throws(CodecError) in try probe(file.body, limits: limits) })
        }
      }
    } catch {
      throw FetchFailure(.cancelled)
    }
    switch opened {
    case .failure(let error): throw FetchFailure(ThumbnailError(error))
    case .success((let file, let header)):
      monitor.add(file.body.count, to: \.downloadedBytes)
      monitor.send(job.source, .opened(bytes: file.body.count))
      var body = SourceBody(file.body, header: header, holding: permit)
      body.hasChanged = { file.hasChanged }
      body.admitsUnsafe = configuration.isolation.admitsUnsafe(isUserFile: true)
      body.previews = configuration.previews
      return body
    }
  }
}
