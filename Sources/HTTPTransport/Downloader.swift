// The module HTTPTransport: fetches bodies by libcurl, within the limits of hosts and memory.

import Foundation
import Synchronization
package import ThumbnailCore

/// Downloads images: waits for a slot, runs the transfer, follows redirects and retries.
///
/// A download runs at most one transfer at a time and holds a slot only for that: not during a back-off, nor while its
/// host is held. Thread-safe.
package final class Downloader: Sendable {
  package let configuration: DownloadConfiguration
  private let curl: CurlThread
  let slots: Mutex<DownloadSlots>
  /// When the next wake-up for held hosts is scheduled, if any.
  let wakesAt = Mutex<ContinuousClock.Instant?>(nil)
  private let silentHosts = SilentHosts()
  let bodyMemory: WeightedSemaphore?
  private let spillMemory: WeightedSemaphore?

  /// Starts nothing: the curl thread starts with the first download.
  ///
  /// With `bodyMemory`, each download reserves a share of it for what its body may hold in memory, after getting its
  /// slot and before its transfer, and keeps it as long as the `Download` lives. `spillMemory` lends the bytes of files
  /// in memory, used where no directory has room for a large body.
  package init(
    _ configuration: DownloadConfiguration, bodyMemory: WeightedSemaphore? = nil, spillMemory: WeightedSemaphore? = nil
  ) {
    self.configuration = configuration
    self.bodyMemory = bodyMemory
    self.spillMemory = spillMemory
    curl = CurlThread(maximumIdleConnections: 2 * max(1, configuration.maximumDownloads))
    slots = Mutex(
      DownloadSlots(
        .init(
          maximum: configuration.maximumDownloads, maximumPerSite: configuration.maximumDownloadsPerHost,
          rules: configuration.silence),
        policy: configuration.hosts, maximumWait: configuration.maximumWait))
  }

  /// The running transfers, silent ones included.
  var activeDownloads: Int { slots.withLock { $0.admission.running + $0.admission.lent } }
  /// The downloads that wait for a slot.
  package var waitingDownloads: Int { slots.withLock { $0.admission.waiting } }

  /// The number of downloads waiting for a silent server, by host.
  package var silentDownloads: [String: Int] { silentHosts.current }

  /// Downloads an image. The observer sees every byte of a successful response as it arrives.
  ///
  /// Cancelling the task closes the connection, or removes the download from its queue.
  package func download(
    _ request: DownloadRequest, observer: (any BodyObserver)? = nil, priority: PriorityControl
  ) async throws(DownloadError) -> Download {
    let (url, headers) = try FetchRequest.checked(request.url, headers: request.headers)
    let temporary = FileManager.default.temporaryDirectory.path
    let partial = PartialBodySlot(store: configuration.partialBodies, name: request.key)
    await partial.load()
    let silence = SilenceReport(hosts: silentHosts, signal: request.silence)
    defer { silence.resumed() }
    let fetch = FetchRequest(
      url: url, headers: headers, byteLimit: request.byteLimit, accept: configuration.accept,
      memoryLimit: configuration.memoryBodyLimit,
      spillDirectories: [configuration.spillDirectory.path, temporary], spillMemory: spillMemory, takesBodyShare: true,
      observer: observer,
      partial: partial,
      attempts: request.attempts, downloadsPerHost: request.downloadsPerHost, condition: request.condition,
      silence: silence)
    let outcome: Result<Outcome, DownloadError>
    do throws(DownloadError) {
      outcome = .success(try await perform(fetch, priority: priority))
    } catch {
      outcome = .failure(error)
    }
    // A later request for the same image must find the partial file as this download has left it.
    await partial.settle()
    let result = try outcome.get()
    let response = result.response
    if let failure = Self.failure(of: response) { throw failure }
    return Download(
      body: response.body, isComplete: response.isComplete, receivedBytes: response.receivedBytes,
      expectedBytes: response.expectedBytes, status: response.head.status, headers: response.head.headers,
      address: result.url.digest,
      finalURL: URL(string: result.url.text), attempts: result.attempts, httpVersion: response.httpVersion,
      timeToFirstByte: response.timeToFirstByte, duration: result.duration,
      // Without a body there is no memory to account for.
      bodyShare: response.isUnchanged ? nil : result.bodyShare)
  }

  // MARK: Attempts

  /// An attempt that received this many bytes, which the next need not fetch again, does not count as failed.
  private static let worthwhileProgress = 256 << 10

  /// The last response, whatever its status, and how it was obtained.
  struct Outcome {
    var response: TransferResponse
    var url: CurlURL
    var attempts: Int
    var duration: Duration
    var bodyShare: WeightedSemaphore.Reservation?
  }

  /// Runs a request until it succeeds or should not be retried.
  func perform(_ fetch: FetchRequest, priority: PriorityControl) async throws(DownloadError) -> Outcome {
    var fetch = fetch
    var fetchState = FetchState()
    // Attempts since the last one that made progress.
    var attempt = 0
    var attempts = 0
    var progress = fetch.partial?.count ?? 0
    var failed: (error: DownloadError, response: (TransferResponse, CurlURL)?)?
    while true {
      attempt += 1
      attempts += 1
      let failure: DownloadError
      var last: (TransferResponse, CurlURL)?
      fetchState.isLastAttempt = attempt >= min(configuration.retry.maximumAttempts, fetch.attempts ?? .max)
      do throws(DownloadError) {
        let (response, url) = try await follow(fetch, fetchState: &fetchState, priority: priority)
        let refused = Self.failure(of: response)
        guard let refused, !fetch.keepsErrorBodies || response.head.status >= 500 && !refused.isPause else {
          return Outcome(
            response: response, url: url, attempts: attempts, duration: fetchState.spent,
            bodyShare: fetchState.bodyShare)
        }
        failure = refused
        last = (response, url)
      } catch {
        if case .unknownEncoding = error, fetch.compression != .ignored {
          // The body may be fine without decompressing it.
          fetch.compression = .ignored
          attempt -= 1
          // See `follow`: no memory may be held while waiting for a slot.
          fetchState.bodyShare = nil
          continue
        }
        if error.isOfHeldHost {
          // The original failure says more than that the host is now held.
          guard let failed, fetch.keepsErrorBodies, let (response, url) = failed.response else {
            throw failed?.error ?? error
          }
          return Outcome(response: response, url: url, attempts: attempts - 1, duration: fetchState.spent)
        }
        failure = error
      }
      failed = (failure, last)
      // A server that breaks off repeatedly, but makes progress each time, is worth retrying.
      if let count = fetch.partial?.count, count >= progress + Self.worthwhileProgress {
        (attempt, progress) = (1, count)
      }
      var random = SystemRandomNumberGenerator()
      guard attempt < fetch.attempts ?? .max,
        let pause = configuration.retry.pause(after: failure, attempt: attempt, using: &random),
        fetchState.spent + pause < configuration.totalTimeout
      else {
        guard let last, fetch.keepsErrorBodies else { throw failure }
        return Outcome(response: last.0, url: last.1, attempts: attempts, duration: fetchState.spent)
      }
      // A timed-out image is deferred, so that others do not wait for it a second time.
      if case .timedOut = failure, fetch.takesBodyShare {
        fetchState.isDeferred = true
        fetch.silence?.putOff()
      }
      Log.download.debug("attempt \(attempt) at \(fetch.url.site) failed: \(failure); again in \(pause)")
      fetchState.bodyShare = nil
      // The pause that a host requests applies to all its downloads: they wait for it where they wait for slots.
      if pause == .zero { continue }
      do { try await Task.sleep(for: pause) } catch { throw .cancelled }
      fetchState.spent += pause
    }
  }

  /// State carried from one transfer of a request to the next.
  private struct FetchState {
    /// The time spent in transfers and pauses.
    var spent = Duration.zero
    /// Whether the current attempt is the last.
    var isLastAttempt = false
    /// Its admission ticket, which keeps its age.
    var ticket: DownloadSlots.Admission.Ticket?
    /// Whether it waits behind all others because its server was silent.
    var isDeferred = false
    /// Its share of the memory for bodies; none during a pause.
    var bodyShare: WeightedSemaphore.Reservation?
  }

  /// One attempt: one transfer per redirect, until a response is not a redirect.
  private func follow(
    _ fetch: FetchRequest, fetchState: inout FetchState, priority: PriorityControl
  ) async throws(DownloadError) -> (TransferResponse, CurlURL) {
    var route = RedirectChain(
      url: fetch.url, headers: fetch.headers, maximumRedirects: configuration.maximumRedirects)
    var held: TransferSlot?
    // The pass of a transfer without an outcome for its host yet.
    var open: CircuitBreaker.Pass?
    defer {
      if let open { ended(open, .none) }
      if let held { release(held) }
    }
    while true {
      let previous = held
      held = nil
      let (slot, pass) = try await waitForSlot(
        at: route.url, fetch, fetchState: &fetchState, inPlaceOf: previous, priority: priority)
      (held, open) = (slot, pass)
      if fetch.takesBodyShare, fetchState.bodyShare == nil {
        fetchState.bodyShare = try await shareOfBodyMemory(priority: priority)
      }
      await fetch.partial?.settle()
      guard !Task.isCancelled else { throw .cancelled }
      slot.hold(fetchState.bodyShare)
      let start = ContinuousClock.now
      var order = fetch.transferRequest(
        at: route, timeLeft: configuration.totalTimeout - fetchState.spent, isLastAttempt: fetchState.isLastAttempt,
        configuration)
      // API requests are few, and others wait for them, so they do not lend their slots.
      if fetch.takesBodyShare { order.slot = slot }
      let result = await curl.perform(order)
      fetchState.spent += ContinuousClock.now - start
      open = nil
      ended(pass, verdict(of: result, slot, isOfAPI: fetch.keepsErrorBodies))
      if slot.hasLeftMemory { fetchState.bodyShare = nil }
      if case .failure(.cancelled) = result, slot.isPutOff, !Task.isCancelled {
        (fetchState.bodyShare, fetchState.isDeferred) = (nil, true)
        slot.hold(nil)
        fetch.silence?.putOff()
        continue
      }
      let response = try result.get()
      fetchState.isDeferred = false
      guard let location = response.head.redirectLocation else {
        // The body is in a file, but its decode is accounted for like all others.
        if slot.hasLeftMemory, !response.isUnchanged {
          fetchState.bodyShare = try await shareOfBodyMemory(priority: priority)
        }
        return (response, route.url)
      }
      // A waiter for a slot must hold no memory: those with a slot may be waiting for that memory.
      fetchState.bodyShare = nil
      slot.hold(nil)
      try route.follow(location)
    }
  }

  private func shareOfBodyMemory(
    priority: PriorityControl
  ) async throws(DownloadError) -> WeightedSemaphore.Reservation? {
    guard let bodyMemory else { return nil }
    do throws(WeightedSemaphore.Failure) {
      return try await bodyMemory.reserve(
        min(configuration.memoryBodyLimit, bodyMemory.capacity), priority: priority)
    } catch {
      throw .cancelled
    }
  }

  /// The error for a response's status; nil for success.
  private static func failure(of response: TransferResponse) -> DownloadError? {
    let status = response.head.status
    if response.isUnchanged { return nil }
    return (200..<300).contains(status)
      ? nil : .httpStatus(status, retryAfter: response.head.retryAfter())
  }

  // MARK: Slots

  /// Waits for a slot at a site, and while its host is held. The slot of the previous transfer is released in the same
  /// step, so that no other download takes it when the site is the same.
  private func waitForSlot(
    at url: CurlURL, _ fetch: FetchRequest, fetchState: inout FetchState, inPlaceOf previous: TransferSlot?,
    priority: PriorityControl
  ) async throws(DownloadError) -> (TransferSlot, CircuitBreaker.Pass) {
    adoptNews()
    let slot = TransferSlot(
      self, host: url.shownHost, shortestTimeout: configuration.silence.shortestTimeout, silence: fetch.silence)
    let waiter = DownloadSlots.Waiter(site: url.site, mayWait: fetch.mayWait, slot: slot)
    let (earlier, isDeferred) = (fetchState.ticket, fetchState.isDeferred)
    let line = changeSlots { slots, effects in
      Result { () throws(DownloadError) in
        defer { if let held = previous?.ticket { slots.admission.release(held) } }
        let ticket = try slots.enqueue(
          waiter, at: priority.current, limit: fetch.downloadsPerHost, returning: earlier, deferred: isDeferred,
          now: .now, &effects)
        slot.ticket = ticket
        return ticket
      }
    }
    let ticket: DownloadSlots.Admission.Ticket
    do throws(DownloadError) {
      ticket = try line.get()
    } catch {
      // The released slot is free for another download.
      admitWaiting()
      throw error
    }
    fetchState.ticket = ticket
    let observation = priority.observe { [weak self] level in
      self?.slots.withLock { $0.admission.move(ticket, to: level) }
    }
    defer { priority.stopObserving(observation) }
    // The priority may have changed before the observation began.
    slots.withLock { $0.admission.move(ticket, to: priority.current) }
    admitWaiting()
    let pass = try await slot.granted.wait { [weak self] in
      self?.slots.withLock { $0.admission.remove(ticket) }?.slot.granted.resume(with: .failure(.cancelled))
    }.get()
    return (slot, pass)
  }

  private func release(_ slot: TransferSlot) {
    guard let ticket = slot.ticket else { return }
    changeAdmission { $0.release(ticket) }
  }

  /// What a transfer's outcome says about its host. A timeout says nothing if the host responds to others; a connection
  /// that breaks off after much data counts as a response; and what an API means by 429 is left to its client, which
  /// keeps the service's pace.
  private func verdict(
    of result: Result<TransferResponse, DownloadError>, _ slot: TransferSlot, isOfAPI: Bool
  ) -> CircuitBreaker.Verdict {
    if case .failure(.timedOut) = result, let ticket = slot.ticket,
      slots.withLock({ $0.admission.hasAnsweredOthers(since: ticket) })
    {
      return .none
    }
    if case .failure(.brokenOff(let received, _)) = result, received >= Self.worthwhileProgress { return .answered }
    let verdict = CircuitBreaker.Verdict(result)
    if case .pause = verdict, isOfAPI { return .answered }
    return verdict
  }

  /// How long a transfer may receive nothing before it counts as silent.
  func silenceTimeout(for ticket: DownloadSlots.Admission.Ticket) -> Duration {
    slots.withLock { $0.admission.silenceTimeout(for: ticket) }
  }

  /// Changes the admission, then starts what can start.
  func changeAdmission(_ change: (inout DownloadSlots.Admission) -> Void) {
    slots.withLock { change(&$0.admission) }
    admitWaiting()
  }

  func admitWaiting() {
    while let step = slots.withLock({ $0.nextStep(at: .now) }) {
      switch step {
      case .start(let slot, let pass): slot.granted.resume(with: .success(pass))
      case .putOff(let slot): slot.putOff()
      }
    }
  }
}
