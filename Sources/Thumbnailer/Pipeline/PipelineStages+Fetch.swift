import DecodeSandbox
import Foundation
import HTTPSemantics
import HTTPTransport
import ImageCodec
import ThumbnailCore

/// Fetches the bytes of an image: by downloading it, or by opening a local file.
extension PipelineStages {
  /// Fetches the image's bytes, unless its header is refused.
  ///
  /// - Parameters:
  ///   - demand: The variants currently requested: a download stops once they can be made from what has arrived. Nil to
  ///     fetch the whole body.
  ///   - spent: Statistics of an earlier body that was insufficient and has been released: memory must not be held
  ///     while waiting for a slot. The preview is then not used again.
  ///   - progress: Updated as bytes arrive.
  func fetchBody(
    of source: ImageSource, demand: VariantDemand?, insteadOf spent: SourceBody.Spent? = nil, priority: PriorityControl,
    progress: BodyProgress = BodyProgress()
  ) async throws(FetchFailure) -> SourceBody {
    progress.setComplete(false)
    defer { progress.setComplete(true) }
    if let spent { statistics.add(-spent.bytesLeft, to: \.bytesLeft) }
    let mayUsePreview = spent == nil && configuration.previews
    var fetched =
      source.isUserFile
      ? try await openFile(source, priority: priority)
      : try await download(
        source, demand: demand, mayUsePreview: mayUsePreview, priority: priority, progress: progress
      ).body
    fetched.mayUsePreview = mayUsePreview
    fetched.downloadedBytes += spent?.downloadedBytes ?? 0
    return fetched
  }

  /// Downloads the image, or as much of it as needed, from the first of its URLs that has it.
  ///
  /// If none has it, throws the last error that may be different next time: that one URL has no such image is not
  /// conclusive while another could not be reached.
  ///
  /// - Parameters:
  ///   - condition: Makes the request conditional. The body is empty if the image is not modified.
  ///   - mayRepeat: Whether the server gets a second attempt.
  func download(
    _ source: ImageSource, demand: VariantDemand?, mayUsePreview: Bool, condition: DownloadCondition? = nil,
    mayRepeat: Bool = true, priority: PriorityControl, progress: BodyProgress
  ) async throws(FetchFailure) -> (body: SourceBody, download: Download) {
    var places = source.places
    var passing: ThumbnailError?
    var end: Date?
    while true {
      let place = places.removeFirst()
      let attempts = mayRepeat ? (places.isEmpty ? nil : Self.attemptsBeforeTheNextPlace) : 1
      do throws(FetchFailure) {
        return try await download(
          source, from: place, attempts: attempts, demand: demand, mayUsePreview: mayUsePreview, condition: condition,
          priority: priority, progress: progress)
      } catch let failure {
        let error = failure.error
        // That no URL has the image is cacheable only as long as each response allows.
        end = [end, failure.end].compactMap { $0 }.min()
        guard !places.isEmpty, error.mayBeHadElsewhere else {
          throw FetchFailure(error.lifetime == nil ? error : passing ?? error, end: end)
        }
        if error.lifetime == nil { passing = error }
        // Logs only the host, since the rest of a URL may contain a password.
        Log.pipeline.debug("\(place.host ?? "one place"): \(error); asking at the next place")
      }
    }
  }

  /// A URL that fails is tried once more before the next.
  private static let attemptsBeforeTheNextPlace = 2

  private func download(
    _ source: ImageSource, from place: URL, attempts: Int?, demand: VariantDemand?, mayUsePreview: Bool,
    condition: DownloadCondition?, priority: PriorityControl, progress: BodyProgress
  ) async throws(FetchFailure) -> (body: SourceBody, download: Download) {
    // A helper needs the complete file.
    let mayStop = configuration.earlyStop && configuration.isolation.formats != .all
    let mayReadCoefficients = configuration.readsCoefficients
    let earlyStop = (mayStop ? demand : nil).map {
      EarlyStop(
        demand: $0, memoryBudget: decodes.capacity, mayReadCoefficients: mayReadCoefficients,
        mayUsePreview: mayUsePreview)
    }
    let observer = HeaderObserver(limits: limits, admitsForeign: admitsForeign(source), earlyStop: earlyStop)
    let request = DownloadRequest(
      url: place, headers: source.headers(at: place), byteLimit: configuration.maximumSourceBytes.bytes,
      // Server-side sizes of one image share its identity, but not its body.
      key: configuration.cacheMode == .noStore
        ? nil : SourceKey(identity: "\(source.identity)\n\(place.absoluteString)", headers: source.headers),
      attempts: attempts, downloadsPerHost: source.downloadsPerHost, condition: condition,
      silence: progress.silence)
    let counting = CountingObserver(observer, statistics: statistics, progress: progress)
    let started = ContinuousClock.now
    let download: Download
    do throws(DownloadError) {
      download = try await downloader.download(request, observer: counting, priority: priority)
    } catch {
      let end = counting.head.flatMap { statedEnd(of: $0, delay: .now - started) }
      if case .refusedByObserver = error, case .refused(let refusal) = observer.outcome {
        throw FetchFailure(ThumbnailError(refusal, of: configuration), end: end)
      }
      throw FetchFailure(ThumbnailError(error), end: end)
    }
    var body = SourceBody(
      download, header: observer.outcome, finestScale: observer.finestScale, mayReadCoefficients: mayReadCoefficients)
    if download.isUnchanged { return (body, download) }
    body.response = storedResponse(download, from: place)
    body.statedEnd = counting.head.flatMap { statedEnd(of: $0, delay: download.duration) }
    statistics.add(1, to: \.downloads)
    statistics.add(body.bytesLeft, to: \.bytesLeft)
    events.send(
      source,
      .downloaded(
        bytes: download.receivedBytes, expectedBytes: download.expectedBytes, isComplete: download.isComplete,
        attempts: download.attempts, httpVersion: download.httpVersion, duration: download.duration))
    return (body, download)
  }

  /// When a response stops being cacheable, if its server limits that.
  private func statedEnd(of head: CountingObserver.Head, delay: Duration) -> Date? {
    ResponseMetadata(head.headers).statedEnd(
      head.headers, status: head.status, receivedAt: configuration.now(), delay: delay / .seconds(1))
  }

  /// Opens a file and reads its header, in one work item of a worker thread.
  private func openFile(
    _ source: ImageSource, priority: PriorityControl
  ) async throws(FetchFailure) -> SourceBody {
    let place: WeightedSemaphore.Reservation
    do throws(WeightedSemaphore.Failure) {
      place = try await openFiles.reserve(1, priority: priority)
    } catch {
      throw FetchFailure(.cancelled)
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
      throw FetchFailure(.cancelled)
    }
    switch opened {
    case .failure(let error): throw FetchFailure(ThumbnailError(error))
    case .success((let file, let header)):
      statistics.add(file.body.count, to: \.downloadedBytes)
      events.send(source, .opened(bytes: file.body.count))
      return SourceBody(
        file, place: place, header: header, mayReadCoefficients: configuration.readsCoefficients)
    }
  }
}

extension ImageSource {
  /// The URLs of the image, in the order to try. Never empty.
  var places: [URL] { [url] + alternates }

  /// The header fields for one of the URLs: credentials are only sent to their host.
  fileprivate func headers(at place: URL) -> [HTTPHeader] {
    place == url || place.scheme == url.scheme && HostName(of: place) == HostName(of: url) ? headers : []
  }
}

extension ThumbnailError {
  /// Whether the server caused the failure, so that another URL may have the image.
  fileprivate var mayBeHadElsewhere: Bool {
    switch self {
    case .notFound, .refused, .rateLimited, .serverFailed, .unreachable, .hostClosed, .timedOut: true
    default: false
    }
  }
}
