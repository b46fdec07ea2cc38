import Foundation
import HTTPSemantics
import HTTPTransport
import ImageCodec
import ThumbnailCache
import ThumbnailCore

/// Downloads images over HTTP, from the first of their URLs that has them.
struct HTTPLoader: BodyLoader {
  let configuration: ThumbnailPipeline.Configuration
  /// The most bytes that all decodes may take together.
  let decodeShare: Int
  let downloader: Downloader
  let runner: DecodeRunner
  let parts: PartsLoader
  let monitor: PipelineMonitor

  /// What a download is to bring.
  struct BodyRequest {
    /// The variants requested at any moment: the transfer stops once they can be made from what has arrived. Nil for
    /// the whole body.
    var demand: VariantDemand?
    var previews: PreviewUse
    /// Makes the request conditional. The body is empty if the image is not modified.
    var condition: DownloadCondition?
    /// Whether a server that fails gets another attempt.
    var mayRepeat = true
  }

  func load(
    for job: JobContext, isWhole: Bool, insteadOf spent: SourceBody.Spent?
  ) async throws(FetchFailure) -> SourceBody {
    if let spent { monitor.add(-spent.bytesLeft, to: \.bytesLeft) }
    let request = BodyRequest(
      demand: isWhole ? nil : job.demand, previews: spent == nil ? configuration.previews : .off)
    var body = try await download(request, for: job).body
    body.downloadedBytes += spent?.downloadedBytes ?? 0
    return body
  }

  /// Downloads the image, or as much of it as needed.
  ///
  /// If no URL has it, throws the last error that may be different next time: that one URL has no such image is not
  /// conclusive while another could not be reached.
  func download(
    _ request: BodyRequest, for job: JobContext
  ) async throws(FetchFailure) -> (body: SourceBody, download: Download) {
    job.progress.setComplete(false)
    defer { job.progress.setComplete(true) }
    runner.prepare()
    var urls = job.source.urls
    var passing: ThumbnailError?
    var end: Date?
    while true {
      let url = urls.removeFirst()
      do throws(FetchFailure) {
        return try await download(request, from: url, isLast: urls.isEmpty, for: job)
      } catch let failure {
        let error = failure.error
        // That no URL has the image is cacheable only as long as each response allows.
        end = [end, failure.end].compactMap { $0 }.min()
        guard !urls.isEmpty, error.mayBeHadElsewhere else {
          throw FetchFailure(error.lifetime == nil ? error : passing ?? error, end: end)
        }
        if error.lifetime == nil { passing = error }
        // Logs only the host, since the rest of a URL may contain a password.
        monitor.loggers.pipeline.debug("\(url.host ?? "one place"): \(error); asking at the next place")
      }
    }
  }

  /// A URL that fails is tried once more before the next.
  private static let attemptsBeforeTheNextURL = 2

  private func download(
    _ request: BodyRequest, from url: URL, isLast: Bool, for job: JobContext
  ) async throws(FetchFailure) -> (body: SourceBody, download: Download) {
    let attempts = request.mayRepeat ? (isLast ? nil : Self.attemptsBeforeTheNextURL) : 1
    var receivedInVain = 0
    if parts.mayAsk(url) {
      switch try await download(request, from: url, attempts: attempts, usesParts: true, for: job) {
      case .done(let body, let download): return (body, download)
      case .needsWhole(let receivedBytes): receivedInVain = receivedBytes
      }
    }
    guard
      case .done(var body, let download) = try await download(
        request, from: url, attempts: attempts, usesParts: false, for: job)
    else { throw FetchFailure(ThumbnailError(.wrongRange)) }
    body.downloadedBytes += receivedInVain
    return (body, download)
  }

  /// The result of a download that may use parts.
  private enum Attempt {
    case done(SourceBody, Download)
    /// Parts are of no use; so many bytes were received.
    case needsWhole(receivedBytes: Int)
  }

  private func download(
    _ request: BodyRequest, from url: URL, attempts: Int?, usesParts: Bool, for job: JobContext
  ) async throws(FetchFailure) -> Attempt {
    let source = job.source
    let admitsUnsafe = configuration.isolation.admitsUnsafe(isUserFile: false)
    let need = (configuration.earlyStop ? request.demand : nil).map {
      BodyNeed(demand: $0, memoryBudget: decodeShare, previews: request.previews)
    }
    let partsNeed = usesParts ? need : nil
    let observer = HeaderObserver(
      limits: job.policy.limits, admitsUnsafe: admitsUnsafe, earlyStop: need.map { EarlyStop($0) },
      usesParts: partsNeed != nil, monitor: monitor, progress: job.progress)
    let wanted = DownloadRequest(
      url: url, headers: source.headers(at: url), byteLimit: job.policy.limits.maximumBytes,
      key: job.policy.bypassesCaches ? nil : source.bodyKey(of: url),
      attempts: attempts, downloadsPerHost: source.downloadsPerHost, condition: request.condition,
      part: request.condition == nil && partsNeed != nil ? parts.firstPart(of: url) : nil,
      silence: job.progress.silence,
      onAttempt: { [monitor] in monitor.send(source, .attempted(number: $0, status: $1)) })
    let started = ContinuousClock.now
    func failure(_ error: ThumbnailError) -> FetchFailure {
      FetchFailure(error, end: observer.head.flatMap { statedEnd(of: $0, delay: .now - started) })
    }
    var download: Download
    do throws(DownloadError) {
      download = try await downloader.download(wanted, observer: observer, priority: job.priority)
    } catch {
      if case .partUnavailable(let isFault) = error {
        if isFault { parts.noteFault(of: url) }
        return .needsWhole(receivedBytes: 0)
      }
      if case .refusedByObserver = error, case .refused(let refusal) = observer.outcome {
        throw failure(ThumbnailError(refusal, of: configuration))
      }
      throw failure(ThumbnailError(error))
    }
    if download.isUnchanged {
      return .done(SourceBody(download.body, header: observer.outcome.header, holding: download), download)
    }
    var body: SourceBody
    var (attempts, duration) = (download.attempts, download.duration)
    if let partsNeed, !download.isComplete, observer.ending != .enough {
      do throws(PartsLoader.Failure) {
        let plan = RangePlan(partsNeed, limits: job.policy.limits)
        let loaded = try await parts.complete(&download, wanted, by: plan, for: job)
        body = SourceBody(loaded.parts, header: .success(loaded.probe), holding: loaded.last)
        (body.downloadedBytes, attempts, duration) = (loaded.receivedBytes, loaded.attempts, loaded.duration)
      } catch {
        switch error {
        case .unsuitable(let receivedBytes): return .needsWhole(receivedBytes: receivedBytes)
        case .refused(let refusal): throw failure(ThumbnailError(refusal, of: configuration))
        case .failed(let error): throw failure(ThumbnailError(error))
        }
      }
    } else {
      body = SourceBody(of: download, header: observer.outcome.header)
    }
    let response = StoredResponse(download, of: source, from: url, receivedAt: configuration.now())
    body.response = response
    body.statedEnd = observer.head.flatMap { statedEnd(of: $0, delay: download.duration) }
    body.mayBeStored = response.metadata.mayBeStored(status: download.status)
    body.finestScale = observer.finestScale
    body.admitsUnsafe = admitsUnsafe
    body.previews = request.previews
    body.sender = download.host == HostName(of: source.url)?.host ? nil : download.host
    monitor.add(1, to: \.downloads)
    monitor.add(body.bytesLeft, to: \.bytesLeft)
    monitor.send(
      source,
      .downloaded(
        bytes: body.downloadedBytes, expectedBytes: download.expectedBytes, isComplete: body.isComplete,
        attempts: attempts, httpVersion: download.httpVersion, duration: duration))
    return .done(body, download)
  }

  /// When a response stops being cacheable, if its server limits that.
  private func statedEnd(of head: HeaderObserver.Head, delay: Duration) -> Date? {
    ResponseMetadata(head.headers).statedEnd(
      head.headers, status: head.status, receivedAt: configuration.now(), delay: delay / .seconds(1))
  }
}

extension SourceBody {
  /// What one download has brought.
  fileprivate init(of download: Download, header: Result<ImageProbe, CodecError>?) {
    self.init(download.body, header: header, holding: download)
    downloadedBytes = download.receivedBytes
    isComplete = download.isComplete
    bytesLeft = isComplete ? 0 : max(0, (download.expectedBytes ?? 0) - download.body.count)
  }
}

extension ImageSource {
  /// The URLs of the image, in the order to try. Never empty.
  var urls: [URL] { [url] + alternates }

  /// The header fields for one of the URLs: credentials are only sent to their host.
  fileprivate func headers(at other: URL) -> [HTTPHeader] {
    other == url || other.scheme == url.scheme && HostName(of: other) == HostName(of: url) ? headers : []
  }
}

extension ThumbnailError {
  /// Whether the server caused the failure, so that another URL may have the image.
  fileprivate var mayBeHadElsewhere: Bool {
    switch self {
    case .notFound, .refused, .rateLimited, .serverFailed, .unreachable, .addressRefused, .hostClosed, .timedOut: true
    default: false
    }
  }
}
