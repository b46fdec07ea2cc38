/// How the bytes of a picture come to be at hand: by a download, or by opening the local file that they are.
extension PipelineStages {
  /// Gets the picture's bytes, unless its header says that it will not be read.
  ///
  /// - Parameters:
  ///   - demand: What is asked of the picture at any moment: a download ends once that can be made of what has arrived.
  ///     Nil where the whole body is wanted.
  ///   - body: What is at hand of it, and did not do. Its preview is not used again.
  ///   - progress: Told how much has arrived.
  func fetchBody(
    of source: ImageSource, demand: VariantDemand?, insteadOf body: SourceBody? = nil, priority: PriorityControl,
    progress: BodyProgress = BodyProgress()
  ) async throws(ThumbnailError) -> SourceBody {
    progress.setComplete(false)
    defer { progress.setComplete(true) }
    if let body { statistics.add(-body.bytesLeft, to: \.bytesLeft) }
    let mayUsePreview = body == nil && configuration.previews
    var fetched =
      source.isUserFile
      ? try await openFile(source, priority: priority)
      : try await download(source, demand: demand, mayUsePreview: mayUsePreview, priority: priority, progress: progress)
    fetched.mayUsePreview = mayUsePreview
    fetched.downloadedBytes += body?.downloadedBytes ?? 0
    return fetched
  }

  private func download(
    _ source: ImageSource, demand: VariantDemand?, mayUsePreview: Bool, priority: PriorityControl,
    progress: BodyProgress
  ) async throws(ThumbnailError) -> SourceBody {
    // A helper gets whole files only.
    let mayStop = configuration.earlyStop && configuration.isolation.formats != .all
    let earlyStop =
      mayStop ? demand.map { EarlyStop(demand: $0, memoryBudget: decodes.capacity, mayUsePreview: mayUsePreview) } : nil
    let observer = HeaderObserver(limits: limits, admitsForeign: admitsForeign(source), earlyStop: earlyStop)
    let request = DownloadRequest(
      url: source.url, headers: source.headers, byteLimit: configuration.maximumSourceBytes.bytes,
      // Several forms of one picture have one identity, but not one body.
      key: SourceKey(identity: "\(source.identity)\n\(source.url.absoluteString)", headers: source.headers))
    let download: Download
    do throws(DownloadError) {
      download = try await downloader.download(
        request, observer: CountingObserver(observer, statistics: statistics, progress: progress), priority: priority)
    } catch {
      if case .refusedByObserver = error, case .refused(let refusal) = observer.outcome {
        throw ThumbnailError(refusal, of: configuration)
      }
      throw ThumbnailError(error, source: source)
    }
    let body = SourceBody(download, header: observer.outcome, finestScale: observer.finestScale)
    statistics.add(1, to: \.downloads)
    statistics.add(body.bytesLeft, to: \.bytesLeft)
    events.send(
      source,
      .downloaded(
        bytes: download.receivedBytes, expectedBytes: download.expectedBytes, isComplete: download.isComplete,
        attempts: download.attempts, httpVersion: download.httpVersion, duration: download.duration))
    return body
  }

  /// Opens a file and reads its header, in one visit of a worker.
  private func openFile(
    _ source: ImageSource, priority: PriorityControl
  ) async throws(ThumbnailError) -> SourceBody {
    let place: ByteLimiter.Reservation
    do throws(ByteLimiter.Failure) {
      place = try await openFiles.reserve(1, priority: priority)
    } catch {
      throw .cancelled
    }
    let opened: Result<(LocalFile, Result<ImageProbe, CodecError>), DownloadError>
    do {
      opened = try await workers.run(priority: priority) { [limits] _ in
        Result { () throws(DownloadError) in
          let file = try LocalFile(path: RawPath(fileURL: source.url), byteLimit: limits.maximumBytes)
          return (file, Result { () throws(CodecError) in try probe(file.body, limits: limits) })
        }
      }
    } catch {
      throw .cancelled
    }
    switch opened {
    case .failure(let error): throw ThumbnailError(error, source: source)
    case .success((let file, let header)):
      statistics.add(file.body.count, to: \.downloadedBytes)
      events.send(source, .opened(bytes: file.body.count))
      return SourceBody(file, place: place, header: header)
    }
  }
}
