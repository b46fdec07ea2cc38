import HTTPTransport
import ImageCodec
import ThumbnailCore

/// Reads local files in place, named by the user or opened by a program: no transfer, no slot, no share of the memory
/// for bodies.
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

  func load(
    for job: JobContext, isWhole: Bool, insteadOf spent: SourceBody.Spent?
  ) async throws(FetchFailure) -> SourceBody {
    let body = try await load(for: job, insteadOf: spent, isUserFile: true) { [url = job.source.url] limit in
      Result { () throws(DownloadError) in try LocalFile(path: RawPath(fileURL: url), byteLimit: limit) }
    }
    monitor.add(body.bytes.count, to: \.downloadedBytes)
    return body
  }

  /// Opens a file, of at most the allowed bytes, and reads its header, in one work item of a worker thread.
  func load(
    for job: JobContext, insteadOf spent: SourceBody.Spent?, isUserFile: Bool,
    _ open: @escaping @Sendable (_ byteLimit: Int) -> Result<LocalFile, DownloadError>
  ) async throws(FetchFailure) -> SourceBody {
    defer { job.progress.setComplete(true) }
    let permit: WeightedSemaphore.Reservation
    let opened: Result<(LocalFile, Result<ImageProbe, CodecError>), DownloadError>
    do {
      permit = try await openFiles.reserve(1, priority: job.priority)
      opened = try await workers.run(priority: job.priority) { [limits = job.policy.limits] _ in
        open(limits.maximumBytes).map { file in
          (file, Result { () throws(CodecError) in try probe(file.body, limits: limits) })
        }
      }
    } catch {
      throw FetchFailure(.cancelled)
    }
    switch opened {
    case .failure(let error): throw FetchFailure(ThumbnailError(error))
    case .success((let file, let header)):
      monitor.send(job.source, .opened(bytes: file.body.count))
      var body = SourceBody(file.body, header: header, holding: permit)
      body.hasChanged = { file.hasChanged }
      body.isLocalFile = true
      body.admitsUnsafe = configuration.isolation.admitsUnsafe(isUserFile: isUserFile)
      body.previews = spent == nil ? configuration.previews : .off
      return body
    }
  }
}
