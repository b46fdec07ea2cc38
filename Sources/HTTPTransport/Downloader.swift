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
  private let runner: any TransferRunner
  private let admission: AdmissionController
  private let probes: HostProbes
  /// What is left of the time for pauses outside of downloads.
  private let waitBudget: Mutex<WaitBudget>
  private let silentHosts = SilentHosts()
  private let unknownHosts: UnknownHosts
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
    if let client = configuration.roundTripper {
      runner = RoundTripRunner(client: client)
    } else {
      runner = CurlThread(maximumIdleConnections: 2 * max(1, configuration.maximumDownloads))
    }
    probes = HostProbes(configuration, runner)
    admission = AdmissionController(configuration) { [probes] in await probes.run(at: $0) }
    waitBudget = Mutex(WaitBudget(configuration.maximumWait))
    unknownHosts = UnknownHosts(patience: configuration.resolverPatience)
  }

  /// The running transfers, silent ones included.
  var activeDownloads: Int { admission.read { $0.running + $0.lent } }
  /// The downloads that wait for a slot.
  package var waitingDownloads: Int { admission.read { $0.waiting } }

  /// The number of downloads waiting for a silent server, by host.
  package var silentDownloads: [String: Int] { silentHosts.current }

  /// An empty buffer for a body that does not come by this transport, kept as those are that do.
  package func makeBodyBuffer() -> BodyBuffer {
    BodyBuffer(
      memoryLimit: configuration.memoryBodyLimit, spillsTo: configuration.spillLocations(spillMemory),
      logger: configuration.logger)
  }

  /// An empty file for the parts of a body. It is on a disk: what waits for a slot must hold no memory.
  package func makePartsFile(length: Int) -> PartsFile {
    PartsFile(length: length, in: configuration.spillLocations(nil))
  }

  /// Whether something other than a download, such as a request for a search page, may wait this long: all such waits
  /// share one limit.
  package func mayWait(for pause: Duration) -> Bool {
    let now = ContinuousClock.now
    return waitBudget.withLock { $0.take(until: now + pause, from: now) }
  }

  /// Downloads an image, or the response of an API. The observer sees every byte of a successful response as it
  /// arrives.
  ///
  /// Cancelling the task closes the connection, or removes the download from its queue. The observer is not called
  /// after this returns.
  ///
  /// - Throws: `DownloadError`, also for an error status of an image request.
  package func download(
    _ request: DownloadRequest, observer: (any BodyObserver)? = nil, priority: PriorityControl
  ) async throws(DownloadError) -> Download {
    var first = try Transfer(request, configuration)
    let partial = PartialBodyHandoff(store: configuration.partialBodies, name: request.key)
    await partial.load()
    (first.observer, first.partial, first.spillMemory) = (observer, partial, spillMemory)
    let silence = SilenceReport(hosts: silentHosts, signal: request.silence)
    defer { silence.resumed() }
    let result: Result<Download, DownloadError>
    do throws(DownloadError) {
      result = .success(try await perform(first, silence: silence, priority: priority))
    } catch {
      result = .failure(error)
    }
    // A later request for the same image must find the partial file as this download has left it.
    await partial.settle()
    return try result.get()
  }

  // MARK: Attempts

  /// What is carried from one transfer of a download to the next.
  private struct Progress {
    /// The transfer to begin the next attempt with.
    var transfer: Transfer
    let silence: SilenceReport
    /// Its admission ticket, which keeps its age.
    var ticket: DownloadTicket?
    /// The site of the last transfer.
    var site = ""
    /// The attempts that came to a transfer.
    var attempts = 0
    /// Those that failed and count.
    var failures = 0
    /// Bytes of the partial body when the last attempt began that made progress.
    var partialBytes: Int
    /// Whether it waits behind all others because it has failed or its server was silent.
    var isDeferred = false
    /// Whether the attempt has come to a transfer.
    var hasBegun = false
    /// Whether it was found out whether a host exists.
    var hasAskedResolver = false
    /// Its share of the memory for bodies; none during a pause.
    var bodyShare: WeightedSemaphore.Reservation?

    mutating func deferUntilOthersAreDone() {
      isDeferred = true
      silence.deferred()
    }
  }

  /// Makes attempts until one succeeds or the next is not worth it.
  private func perform(
    _ first: Transfer, silence: SilenceReport, priority: PriorityControl
  ) async throws(DownloadError) -> Download {
    let request = first.request
    var progress = Progress(
      transfer: first, silence: silence, ticket: request.ticket, partialBytes: first.partial?.count ?? 0)
    defer { if let ticket = progress.ticket { admission.forget(ticket) } }
    // What the last attempt came to: for an API, an error status is a response as well.
    var last: Result<Download, DownloadError>?
    while true {
      progress.transfer.isLastAttempt =
        progress.failures + 1 >= attempts(request)
      progress.hasBegun = false
      let (failure, outcome): (DownloadError, Result<Download, DownloadError>)
      do throws(DownloadError) {
        var download = try await attempt(&progress, priority: priority)
        (download.attempts, download.ticket) = (progress.attempts, progress.ticket)
        request.onAttempt?(progress.attempts, download.status)
        download.duration = configuration.totalTimeout - progress.transfer.timeLeft
        guard let error = download.failure else { return download }
        (failure, outcome) = (error, request.purpose == .api ? .success(download) : .failure(error))
      } catch let thrown {
        let error = await resolved(thrown, &progress)
        if case .unknownEncoding = error, !progress.transfer.ignoresContentEncoding {
          // The body may be fine without decompressing it.
          progress.transfer.ignoresContentEncoding = true
          // See `attempt`: no memory may be held while waiting for a slot.
          progress.bodyShare = nil
          continue
        }
        // The original failure says more than that the host is now held.
        if error.isOfHeldHost, let last { return try last.get() }
        if progress.hasBegun, error != .cancelled, !error.isOfHeldHost { request.onAttempt?(progress.attempts, nil) }
        (failure, outcome) = (error, .failure(error))
      }
      last = outcome
      guard let pause = pause(after: failure, &progress) else { return try outcome.get() }
      // Others do not wait for it a second time.
      if request.purpose == .image { progress.deferUntilOthersAreDone() }
      configuration.logger.debug(
        "attempt \(progress.attempts) at \(first.url.site) failed: \(failure); again in \(pause)")
      progress.bodyShare = nil
      if pause == .zero { continue }
      do { try await Task.sleep(for: pause) } catch { throw .cancelled }
      if !failure.isPause { progress.transfer.timeLeft -= pause }
    }
  }

  /// The pause before the next attempt; nil if there is none. Counts the failure, unless the host is to blame.
  private func pause(after error: DownloadError, _ progress: inout Progress) -> Duration? {
    let request = progress.transfer.request
    guard let ticket = progress.ticket, configuration.retry.isWorthRetrying(error, request.purpose) else { return nil }
    let received = progress.transfer.partial?.count ?? 0
    let madeProgress = received >= progress.partialBytes + RetryPolicy.worthwhileProgress
    if madeProgress { progress.partialBytes = received }
    // What says nothing about the host is no reason to excuse the image.
    let excuses = isPatient(request) && TransferOutcome(.failure(error), purpose: request.purpose) != .inconclusive
    let more: Int
    (progress.failures, more) = admission.charge(
      ticket, at: progress.site, excuses: excuses, isFirst: madeProgress)
    var random = SystemRandomNumberGenerator()
    guard
      let pause = configuration.retry.pause(
        after: error, of: request.purpose, failures: progress.failures,
        most: attempts(request) + (isPatient(request) ? more : 0),
        using: &random)
    else { return nil }
    guard error.isPause else { return pause < progress.transfer.timeLeft ? pause : nil }
    return pause <= configuration.maximumWait ? pause : nil
  }

  private func attempts(_ request: DownloadRequest) -> Int {
    min(configuration.retry.maximumAttempts, request.attempts ?? .max)
  }

  /// Whether a download waits while its host is held.
  private func isPatient(_ request: DownloadRequest) -> Bool { request.mayWait && configuration.maximumWait > .zero }

  /// The error of an attempt, with no slot or memory held: whether a name that was not resolved exists is found out
  /// once.
  private func resolved(_ error: DownloadError, _ progress: inout Progress) async -> DownloadError {
    guard case .unresolved(let host, _) = error, !progress.hasAskedResolver else { return error }
    progress.hasAskedResolver = true
    progress.bodyShare = nil
    return await unknownHosts.confirm(host) ? .unknownHost(host) : error
  }

  /// One attempt: one transfer per redirect, until a response is not a redirect.
  private func attempt(_ progress: inout Progress, priority: PriorityControl) async throws(DownloadError) -> Download {
    let request = progress.transfer.request
    var transfer = progress.transfer
    var held: TransferSlot?
    defer { if let held { admission.release(held) } }
    while true {
      if unknownHosts.contains(transfer.url.host) { throw .unknownHost(transfer.url.host) }
      let previous = held
      held = nil
      let slot = TransferSlot(
        admission, at: transfer.url, isPatient: isPatient(request), silence: progress.silence,
        shortestTimeout: configuration.silence.shortestTimeout, logger: configuration.logger)
      try await admission.wait(
        for: slot, priority: priority, limit: request.downloadsPerHost, returning: progress.ticket,
        isDeferred: progress.isDeferred, releasing: previous)
      (held, progress.ticket, progress.site) = (slot, slot.ticket, slot.site)
      // Others may have found that out in the meantime.
      if unknownHosts.contains(transfer.url.host) { throw .unknownHost(transfer.url.host) }
      if request.purpose == .image, progress.bodyShare == nil {
        progress.bodyShare = try await reserveBodyMemory(priority: priority)
      }
      await transfer.partial?.settle()
      guard !Task.isCancelled else { throw .cancelled }
      slot.hold(progress.bodyShare)
      let start = ContinuousClock.now
      // API requests are few, and others wait for them, so they do not lend their slots.
      if request.purpose == .image { transfer.slot = slot }
      if !progress.hasBegun { progress.attempts += 1 }
      progress.hasBegun = true
      let result = await runner.perform(transfer)
      transfer.timeLeft -= ContinuousClock.now - start
      progress.transfer.timeLeft = transfer.timeLeft
      // A name that may not exist says nothing about a host yet.
      let mayBeUnknown = if case .failure(.unresolved) = result { !progress.hasAskedResolver } else { false }
      if !mayBeUnknown { slot.end(with: TransferOutcome(result, purpose: request.purpose)) }
      if slot.hasLeftMemory { progress.bodyShare = nil }
      if case .failure(.cancelled) = result, slot.isPreempted, !Task.isCancelled {
        progress.bodyShare = nil
        slot.hold(nil)
        progress.deferUntilOthersAreDone()
        continue
      }
      var download = try result.get()
      guard let location = download.head.redirectLocation else {
        // The body is in a file, but its decode is accounted for like all others.
        if slot.hasLeftMemory, !download.isUnchanged {
          admission.report(slot)
          progress.bodyShare = try await reserveBodyMemory(priority: priority)
        }
        if isPatient(request), download.failure == nil { probes.add(transfer, admission) }
        // Without a body there is no memory to account for.
        download.bodyShare = download.isUnchanged ? nil : progress.bodyShare
        return download
      }
      // A waiter for a slot must hold no memory: those with a slot may be waiting for that memory.
      progress.bodyShare = nil
      slot.hold(nil)
      try transfer.route.follow(location)
      try transfer.checkHost()
    }
  }

  private func reserveBodyMemory(
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
}
