import Foundation
import HTTPTransport
import ImageCodec
import ThumbnailCore

/// Loads images that the program itself has (`ImageLoading`). Their bodies are kept like those of downloads: in their
/// share of the memory, or in a spill file.
final class ProgramLoader: BodyLoader {
  let configuration: ThumbnailPipeline.Configuration
  /// The most bytes that all decodes may take together.
  let decodeShare: Int
  let bodyMemory: WeightedSemaphore
  /// Limits the images that are loaded at once, because a loader's own memory is outside of the memory budget.
  private let slots: WeightedSemaphore
  let downloader: Downloader
  /// Reads images that are open files.
  let files: FileLoader
  let monitor: PipelineMonitor

  init(
    _ configuration: ThumbnailPipeline.Configuration, decodeShare: Int, bodyMemory: WeightedSemaphore,
    downloader: Downloader, files: FileLoader, monitor: PipelineMonitor
  ) {
    (self.configuration, self.decodeShare, self.bodyMemory) = (configuration, decodeShare, bodyMemory)
    (self.downloader, self.files, self.monitor) = (downloader, files, monitor)
    slots = WeightedSemaphore(capacity: configuration.downloads)
  }

  func load(
    for job: JobContext, isWhole: Bool, insteadOf spent: SourceBody.Spent?
  ) async throws(FetchFailure) -> SourceBody {
    guard case .loader(let loader) = job.source.origin else { throw FetchFailure(.cancelled) }
    if job.policy.cacheMode == .offline, !loader.isLocal { throw FetchFailure(.notCached) }
    job.progress.setComplete(false)
    defer { job.progress.setComplete(true) }
    if let spent { monitor.add(-spent.bytesLeft, to: \.bytesLeft) }
    do {
      let slot = try await slots.reserve(1, priority: job.priority)
      defer { slot.release() }
      let image = try await loader.load(
        ImageLoadRequest(
          identity: job.source.identity, byteLimit: job.policy.limits.maximumBytes, priority: job.priority.current))
      if let file = image.file {
        return try await files.load(for: job, isUserFile: false) { limit in
          Result { () throws(DownloadError) in try LocalFile(file.descriptor, in: file.state, byteLimit: limit) }
        }
      }
      return try await receive(image, for: job, isAtHand: loader.isLocal, isWhole: isWhole, insteadOf: spent)
    } catch {
      throw error as? FetchFailure ?? FetchFailure(Task.isCancelled ? .cancelled : mapped(error))
    }
  }

  /// Receives the pieces until the thumbnails can be made from them.
  private func receive(
    _ image: LoadedImage, for job: JobContext, isAtHand: Bool, isWhole: Bool, insteadOf spent: SourceBody.Spent?
  ) async throws -> SourceBody {
    let previews = spent == nil ? configuration.previews : .off
    let need = BodyNeed(demand: job.demand, memoryBudget: decodeShare, previews: previews, isAtHand: isAtHand)
    let observer = HeaderObserver(
      limits: job.policy.limits, admitsUnsafe: configuration.isolation.admitsUnsafe(isUserFile: false),
      earlyStop: isWhole ? nil : EarlyStop(need), monitor: monitor, progress: job.progress)
    let share = try await bodyMemory.reserve(
      min(downloader.configuration.memoryBodyLimit, bodyMemory.capacity), priority: job.priority)
    var buffer = downloader.makeBodyBuffer()
    buffer.prepare(for: image.expectedLength)
    observer.bodyBegins(expectedLength: image.expectedLength)
    var verdict = BodyVerdict.more
    try await image.receive { piece in
      // Not every sequence ends when its task is cancelled.
      try Task.checkCancellation()
      try piece.withUnsafeBytes { bytes in
        verdict = observer.bodyReceived(bytes, at: buffer.count)
        if verdict != .refuse { try buffer.append(bytes) }
      }
      return verdict == .more
    }
    // A sequence may end without an error when it is cancelled.
    try Task.checkCancellation()
    if verdict == .more, let length = image.expectedLength, buffer.count < length {
      throw ThumbnailError.unreachable(reason: "it ends after \(buffer.count) of \(length) bytes; try again")
    }
    if verdict == .refuse, case .failure(let refusal) = observer.header {
      throw ThumbnailError(refusal, of: configuration)
    }
    var body = SourceBody(
      buffer.finish(), seenBy: observer, isComplete: verdict == .more || buffer.count == image.expectedLength,
      expectedLength: image.expectedLength, holding: share)
    body.downloadedBytes += spent?.downloadedBytes ?? 0
    body.previews = previews
    monitor.add(body.bytesLeft, to: \.bytesLeft)
    monitor.send(job.source, .opened(bytes: body.bytes.count))
    return body
  }

  private func mapped(_ error: any Error) -> ThumbnailError {
    switch error {
    case let error as ThumbnailError: error
    case let error as DownloadError: ThumbnailError(error)
    case is WeightedSemaphore.Failure, is CancellationError: .cancelled
    default: .unreachable(reason: "the program could not load it: \(error); try again")
    }
  }
}
