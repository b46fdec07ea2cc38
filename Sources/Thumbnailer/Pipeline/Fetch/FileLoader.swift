import HTTPTransport
import ThumbnailCore

/// Reads local files in place, named by the user or opened by a program: no transfer, no slot, no share of the memory
/// for bodies.
final class FileLoader: BodyLoader {
  let configuration: ThumbnailPipeline.Configuration
  let monitor: PipelineMonitor
  /// Limits the files that are open at once.
  private let openFiles: WeightedSemaphore

  init(_ configuration: ThumbnailPipeline.Configuration, monitor: PipelineMonitor) {
    (self.configuration, self.monitor) = (configuration, monitor)
    openFiles = WeightedSemaphore(capacity: configuration.openFiles)
  }

  func load(
    for job: JobContext, isWhole: Bool, insteadOf spent: SourceBody.Spent?
  ) async throws(FetchFailure) -> SourceBody {
    try await load(for: job, isUserFile: true, open(job.source))
  }

  /// The same for a caller that has few files open.
  func body(for job: JobContext) -> SourceBody { body(for: job, isUserFile: true, holding: (), open(job.source)) }

  /// Opens a file of at most the allowed bytes.
  typealias Opening = @Sendable (_ byteLimit: Int) -> Result<LocalFile, DownloadError>

  private func open(_ source: ImageSource) -> Opening {
    { [monitor] limit in
      Result { () throws(DownloadError) in
        let file =
          if case .userFile(let open?) = source.origin { try LocalFile(byteLimit: limit, open) } else {
            try LocalFile(path: RawPath(fileURL: source.url), byteLimit: limit)
          }
        monitor.add(file.body.count, to: \.downloadedBytes)
        return file
      }
    }
  }

  /// A file, which the visit to a worker opens that decodes it.
  func load(
    for job: JobContext, isUserFile: Bool, _ open: @escaping Opening
  ) async throws(FetchFailure) -> SourceBody {
    defer { job.progress.setComplete(true) }
    do {
      let permit = try await openFiles.reserve(1, priority: job.priority)
      return body(for: job, isUserFile: isUserFile, holding: permit, open)
    } catch {
      throw FetchFailure(.cancelled)
    }
  }

  private func body(
    for job: JobContext, isUserFile: Bool, holding permit: any Sendable, _ open: @escaping Opening
  ) -> SourceBody {
    var body = SourceBody(holding: permit) { [monitor] in
      let opened = open(job.policy.limits.maximumBytes)
      if case .success(let file) = opened { monitor.send(job.source, .opened(bytes: file.body.count)) }
      return opened
    }
    body.admitsUnsafe = configuration.isolation.admitsUnsafe(isUserFile: isUserFile)
    body.previews = configuration.previews
    return body
  }
}
