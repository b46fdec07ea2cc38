import Foundation
import HTTPSemantics
import HTTPTransport
import ImageCodec
import ThumbnailCache
import ThumbnailCore

/// Downloads images over HTTP, from the first of their URLs that has them.
final class HTTPLoader: BodyLoader {
  let configuration: ThumbnailPipeline.Configuration
  /// The most bytes that all decodes may take together.
  let decodeShare: Int
  let downloader: Downloader
  let runner: DecodeRunner
  let parts: PartsLoader
  let monitor: PipelineMonitor

  init(
    _ configuration: ThumbnailPipeline.Configuration, decodeShare: Int, downloader: Downloader, runner: DecodeRunner,
    monitor: PipelineMonitor
  ) {
    (self.configuration, self.decodeShare, self.downloader) = (configuration, decodeShare, downloader)
    (self.runner, self.monitor) = (runner, monitor)
    parts = PartsLoader(downloader: downloader, monitor: monitor)
  }

  /// The body that a download has to fetch.
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
  /// If no URL has it, throws the last error that may be different next time: one URL without the image is not
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
        let attempts = request.mayRepeat ? (urls.isEmpty ? nil : Self.attemptsBeforeTheNextURL) : 1
        return try await fetch(request, from: url, attempts: attempts, usesParts: parts.mayAsk(url), for: job)
      } catch let failure {
        let error = failure.error
        // That no URL has the image is cacheable only as long as each response allows.
        end = [end, failure.end].compactMap { $0 }.min()
        guard !urls.isEmpty, error.mayBeHadElsewhere else {
          throw FetchFailure(error.lifetime == nil ? error : passing ?? error, end: end)
        }
        if error.lifetime == nil { passing = error }
        // Logs only the host, because the rest of a URL may contain a password.
        Log.pipeline.debug("\(url.host ?? "one place"): \(error); asking at the next place")
      }
    }
  }

  /// A URL that fails is tried once more before the next.
  private static let attemptsBeforeTheNextURL = 2

  /// Fetches from one URL: with `usesParts` only some parts of the file if they suffice, and all of it if they turn out
  /// to be of no use.
  private func fetch(
    _ request: BodyRequest, from url: URL, attempts: Int?, usesParts: Bool, receivedInVain: Int = 0, for job: JobContext
  ) async throws(FetchFailure) -> (body: SourceBody, download: Download) {
    let need = request.demand.map {
      BodyNeed(demand: $0, memoryBudget: decodeShare, previews: request.previews)
    }
    let plan = usesParts ? need.map { RangePlan($0, limits: job.policy.limits) } : nil
    let observer = HeaderObserver(
      limits: job.policy.limits, admitsUnsafe: configuration.isolation.admitsUnsafe(isUserFile: false),
      earlyStop: need.map { EarlyStop($0) }, usesParts: plan != nil, monitor: monitor, progress: job.progress)
    var wanted = downloadRequest(for: job, at: url)
    (wanted.attempts, wanted.condition) = (attempts, request.condition)
    if request.condition == nil, plan != nil { wanted.part = parts.firstPart(of: url) }
    let started = ContinuousClock.now
    func failure(_ error: ThumbnailError) -> FetchFailure {
      FetchFailure(error, end: observer.head.flatMap { statedEnd(of: $0, delay: .now - started) })
    }
    do throws(PartsLoader.Failure) {
      var (body, download) = try await receive(wanted, observer, plan, for: job)
      if download.isUnchanged { return (body, download) }
      body.downloadedBytes += receivedInVain
      body.statedEnd = observer.head.flatMap { statedEnd(of: $0, delay: download.duration) }
      (body.admitsUnsafe, body.previews) = (observer.admitsUnsafe, request.previews)
      describe(&body, download, from: url, for: job)
      return (body, download)
    } catch {
      switch error {
      case .unsuitable(let receivedBytes):
        return try await fetch(
          request, from: url, attempts: attempts, usesParts: false, receivedInVain: receivedBytes, for: job)
      case .refused(let refusal): throw failure(ThumbnailError(refusal, of: configuration))
      case .failed(let error): throw failure(ThumbnailError(error))
      }
    }
  }

  private func downloadRequest(for job: JobContext, at url: URL) -> DownloadRequest {
    let source = job.source
    var request = DownloadRequest(
      url: url, headers: source.headers(at: url), byteLimit: job.policy.limits.maximumBytes,
      key: job.policy.bypassesCaches ? nil : source.bodyKey(of: url))
    (request.downloadsPerHost, request.silence) = (source.downloadsPerHost, job.progress.silence)
    request.onAttempt = { [monitor] in monitor.send(source, .attempted(number: $0, status: $1)) }
    return request
  }

  /// A whole file counts so often: itself, and its text in the response.
  private static let copies = 2

  /// The whole file of an image, with its share of `memory`.
  func original(
    of source: ImageSource, in memory: WeightedSemaphore
  ) async throws(ThumbnailError) -> (Data, WeightedSemaphore.Reservation) {
    var request = DownloadRequest(
      url: source.url, headers: source.headers, byteLimit: configuration.maximumSourceBytes.bytes)
    request.onAttempt = { [monitor] in monitor.send(source, .attempted(number: $0, status: $1)) }
    let priority = PriorityControl(.prefetch)
    let download: Download
    do throws(DownloadError) {
      download = try await downloader.download(request, priority: priority)
    } catch {
      throw ThumbnailError(error)
    }
    monitor.add(1, to: \.downloads)
    monitor.send(
      source,
      .downloaded(
        bytes: download.receivedBytes, expectedBytes: download.expectedBytes, isComplete: true,
        attempts: download.attempts, httpVersion: download.httpVersion, duration: download.duration))
    // Who holds this memory waits for that of bodies, so nobody may wait the other way round.
    download.bodyShare?.release()
    let share: WeightedSemaphore.Reservation
    do throws(WeightedSemaphore.Failure) {
      share = try await memory.reserve(min(Self.copies * download.body.count, memory.capacity), priority: priority)
    } catch {
      throw .cancelled
    }
    do {
      return (Data(try download.body.read(at: 0, length: download.body.count)), share)
    } catch {
      throw .storageUnavailable(reason: "the download cannot be read back: \(error)")
    }
  }

  /// Receives the body, or with a plan its parts.
  private func receive(
    _ wanted: DownloadRequest, _ observer: HeaderObserver, _ plan: RangePlan?, for job: JobContext
  ) async throws(PartsLoader.Failure) -> (SourceBody, Download) {
    var download: Download
    do throws(DownloadError) {
      download = try await downloader.download(wanted, observer: observer, priority: job.priority)
    } catch {
      switch error {
      case .partUnavailable: throw parts.failure(error, of: wanted, receivedBytes: 0)
      case .refusedByObserver: if case .failure(let refusal) = observer.header { throw .refused(refusal) }
      default: break
      }
      throw .failed(error)
    }
    if let plan, !download.isUnchanged, !download.isComplete, !observer.isEnough {
      if let run = observer.run {
        return (try await parts.jump(over: run, &download, wanted, observer, for: job), download)
      }
      return (try await parts.complete(&download, wanted, by: plan, for: job), download)
    }
    var body = SourceBody(
      download.body, seenBy: observer, isComplete: download.isComplete, expectedLength: download.expectedBytes,
      holding: download)
    body.downloadedBytes = download.receivedBytes
    return (body, download)
  }

  /// Adds to a body what is known of its response, and reports it.
  private func describe(_ body: inout SourceBody, _ download: Download, from url: URL, for job: JobContext) {
    let response = StoredResponse(download, of: job.source, from: url, receivedAt: configuration.now())
    body.response = response
    body.mayBeStored = response.metadata.mayBeStored(status: download.status)
    body.sender = download.host == HostName(of: job.source.url)?.host ? nil : download.host
    monitor.add(1, to: \.downloads)
    monitor.add(body.bytesLeft, to: \.bytesLeft)
    monitor.send(
      job.source,
      .downloaded(
        bytes: body.downloadedBytes, expectedBytes: download.expectedBytes, isComplete: body.isComplete,
        attempts: download.attempts, httpVersion: download.httpVersion, duration: download.duration))
  }

  /// When a response stops being cacheable, if its server limits that.
  private func statedEnd(of head: ResponseHead, delay: Duration) -> Date? {
    ResponseMetadata(head.headers).statedEnd(
      head.headers, status: head.status, receivedAt: configuration.now(), delay: delay / .seconds(1))
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
