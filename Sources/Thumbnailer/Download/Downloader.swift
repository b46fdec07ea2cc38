import Foundation
import Synchronization

/// Fetches pictures: a slot, a transfer, redirects and repetitions, and a body in the end.
///
/// At most one transfer of a download runs at a time, and only that holds a slot: the pause before a repetition holds
/// none. Any thread may call.
final class Downloader: Sendable {
  /// What was given at the start; `maximumDownloads` may have changed since.
  let configuration: DownloadConfiguration
  private let curl: CurlThread
  private let slots: DownloadSlots
  private let silentHosts = SilentHosts()
  let bodyMemory: ByteLimiter?

  /// Starts nothing: the curl thread begins with the first download.
  ///
  /// With `bodyMemory`, each picture takes a share of it for what its body may hold in RAM, after its slot and before
  /// its transfer, and keeps it as long as the `Download` lives.
  init(_ configuration: DownloadConfiguration, bodyMemory: ByteLimiter? = nil) {
    self.configuration = configuration
    self.bodyMemory = bodyMemory
    curl = CurlThread(maximumIdleConnections: 2 * max(1, configuration.maximumDownloads))
    slots = DownloadSlots(
      maximum: configuration.maximumDownloads, maximumPerSite: configuration.maximumDownloadsPerHost,
      rules: configuration.lending)
  }

  /// Transfers that run now, silent ones included.
  var activeDownloads: Int { slots.running }
  /// Downloads that wait for a slot now.
  var waitingDownloads: Int { slots.waiting }
  /// How many downloads wait for a server that has fallen silent, by its host.
  var silentDownloads: [String: Int] { silentHosts.current }

  /// The most transfers at once; those not counted that have lent their slot. Lowering it lets running ones end.
  var maximumDownloads: Int {
    get { slots.maximum }
    set { slots.maximum = newValue }
  }

  /// Fetches a picture. The observer sees every byte of a successful answer as it comes.
  ///
  /// Cancelling the task closes the connection, or takes the download out of its line.
  func download(
    _ request: DownloadRequest, observer: (any BodyObserver)? = nil, priority: PriorityControl
  ) async throws(DownloadError) -> Download {
    let (url, headers) = try Exchange.checked(request.url, headers: request.headers)
    let temporary = FileManager.default.temporaryDirectory.path
    let silence = SilenceReport(hosts: silentHosts, signal: request.silence)
    defer { silence.resumed() }
    let exchange = Exchange(
      url: url, headers: headers, byteLimit: request.byteLimit, accept: configuration.accept,
      memoryLimit: configuration.memoryBodyLimit,
      spillDirectories: [configuration.spillDirectory.path, temporary], takesBodyShare: true, observer: observer,
      partial: PartialBodySlot(store: configuration.partialBodies, name: request.key),
      attempts: request.attempts, downloadsPerHost: request.downloadsPerHost, condition: request.condition,
      silence: silence)
    let result = try await perform(exchange, priority: priority)
    let answer = result.answer
    if let failure = Self.failure(of: answer) { throw failure }
    return Download(
      body: answer.body, isComplete: answer.isComplete, receivedBytes: answer.receivedBytes,
      expectedBytes: answer.expectedBytes, status: answer.head.status, headers: answer.head.headers,
      address: result.url.digest,
      finalURL: URL(string: result.url.text), attempts: result.attempts, httpVersion: answer.httpVersion,
      timeToFirstByte: answer.timeToFirstByte, duration: result.duration,
      // Without a body there is nothing to hold it for.
      bodyShare: answer.isUnchanged ? nil : result.bodyShare)
  }

  // MARK: Attempts

  /// An attempt that brought this many bytes, which the next need not fetch again, does not count as failed.
  private static let worthwhileProgress = 256 << 10

  /// The last answer, whatever its status, and how it came.
  struct Outcome {
    var answer: TransferAnswer
    var url: CurlURL
    var attempts: Int
    var duration: Duration
    var bodyShare: ByteLimiter.Reservation?
  }

  /// Runs an exchange until it succeeds or another attempt is not worth it.
  func perform(_ exchange: Exchange, priority: PriorityControl) async throws(DownloadError) -> Outcome {
    var exchange = exchange
    var journey = Journey()
    // Attempts since the last that brought the body on.
    var attempt = 0
    var attempts = 0
    var progress = exchange.partial?.count ?? 0
    while true {
      attempt += 1
      attempts += 1
      let failure: DownloadError
      var last: (TransferAnswer, CurlURL)?
      do throws(DownloadError) {
        let (answer, url) = try await follow(exchange, journey: &journey, priority: priority)
        let refused = Self.failure(of: answer)
        guard let refused, !exchange.keepsErrorBodies || answer.head.status >= 500 else {
          return Outcome(
            answer: answer, url: url, attempts: attempts, duration: journey.spent, bodyShare: journey.bodyShare)
        }
        failure = refused
        last = (answer, url)
      } catch {
        if case .unknownEncoding = error, exchange.compression != .ignored {
          // The body may be fine for all that.
          exchange.compression = .ignored
          attempt -= 1
          // See `follow`: it waits for a slot once more.
          journey.bodyShare = nil
          continue
        }
        failure = error
      }
      // A server that breaks off again and again, but never without bringing more, is worth staying with.
      if let count = exchange.partial?.count, count >= progress + Self.worthwhileProgress {
        (attempt, progress) = (1, count)
      }
      var random = SystemRandomNumberGenerator()
      guard attempt < exchange.attempts ?? .max,
        let pause = configuration.retry.pause(after: failure, attempt: attempt, using: &random),
        journey.spent + pause < configuration.totalTimeout
      else {
        guard let last, exchange.keepsErrorBodies else { throw failure }
        return Outcome(answer: last.0, url: last.1, attempts: attempts, duration: journey.spent)
      }
      // Others do not wait for a second silence of a picture.
      if case .timedOut = failure, exchange.takesBodyShare {
        journey.isDeferred = true
        exchange.silence?.putOff()
      }
      Log.download.debug("attempt \(attempt) at \(exchange.url.site) failed: \(failure); again in \(pause)")
      journey.bodyShare = nil
      do { try await Task.sleep(for: pause) } catch { throw .cancelled }
      journey.spent += pause
    }
  }

  /// What an exchange carries from one transfer to the next.
  private struct Journey {
    /// The time its transfers and pauses have taken.
    var spent = Duration.zero
    /// Its place among those who wait, for its age.
    var ticket: DownloadSlots.Admission.Ticket?
    /// Whether it waits behind all others, since its server was silent.
    var isDeferred = false
    /// Its share of the memory for bodies; none during a pause.
    var bodyShare: ByteLimiter.Reservation?
  }

  /// One attempt: a transfer at each stop of the route, until an answer is no redirect.
  private func follow(
    _ exchange: Exchange, journey: inout Journey, priority: PriorityControl
  ) async throws(DownloadError) -> (TransferAnswer, CurlURL) {
    var route = DownloadRoute(
      url: exchange.url, headers: exchange.headers, maximumRedirects: configuration.maximumRedirects)
    var held: TransferSlot?
    defer { if let held { slots.release(held) } }
    while true {
      let previous = held
      held = nil
      let slot = try await slots.acquire(
        DownloadSlots.Wish(
          url: route.url, limit: exchange.downloadsPerHost, ticket: journey.ticket, isDeferred: journey.isDeferred,
          silence: exchange.silence), inPlaceOf: previous, priority: priority)
      (held, journey.ticket) = (slot, slot.ticket)
      if exchange.takesBodyShare, journey.bodyShare == nil {
        journey.bodyShare = try await shareOfBodyMemory(priority: priority)
      }
      guard !Task.isCancelled else { throw .cancelled }
      slot.hold(journey.bodyShare)
      let start = ContinuousClock.now
      var order = exchange.order(
        at: route, timeLeft: configuration.totalTimeout - journey.spent, configuration)
      // The answers of a search are few, and others wait for them.
      if exchange.takesBodyShare { order.slot = slot }
      let result = await curl.perform(order)
      journey.spent += ContinuousClock.now - start
      if slot.hasLeftMemory { journey.bodyShare = nil }
      if case .failure(.cancelled) = result, slot.isPutOff, !Task.isCancelled {
        (journey.bodyShare, journey.isDeferred) = (nil, true)
        exchange.silence?.putOff()
        continue
      }
      let answer = try result.get()
      journey.isDeferred = false
      guard let location = answer.head.redirectLocation else {
        // Its body is in a file, but its decode counts as those of all others do.
        if slot.hasLeftMemory, !answer.isUnchanged {
          journey.bodyShare = try await shareOfBodyMemory(priority: priority)
        }
        return (answer, route.url)
      }
      // Who waits for a slot holds no memory: those with a slot may be waiting for just that.
      journey.bodyShare = nil
      try route.follow(location)
    }
  }

  private func shareOfBodyMemory(
    priority: PriorityControl
  ) async throws(DownloadError) -> ByteLimiter.Reservation? {
    guard let bodyMemory else { return nil }
    do throws(ByteLimiter.Failure) {
      return try await bodyMemory.reserve(
        min(configuration.memoryBodyLimit, bodyMemory.capacity), priority: priority)
    } catch {
      throw .cancelled
    }
  }

  /// The error that an answer's status stands for; nil for success.
  private static func failure(of answer: TransferAnswer) -> DownloadError? {
    let status = answer.head.status
    if answer.isUnchanged { return nil }
    return (200..<300).contains(status)
      ? nil : .httpStatus(status, retryAfter: answer.head.retryAfter())
  }
}
