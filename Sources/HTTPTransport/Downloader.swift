// The module HTTPTransport: fetches bodies by libcurl, within the limits of hosts and memory.

import Foundation
import Synchronization
package import ThumbnailCore

/// Downloads images: waits for a slot, runs the transfer, follows redirects and retries.
///
/// A download runs at most one transfer at a time. It holds a slot only during a transfer, not during a back-off or
/// while its host is held. Thread-safe.
package final class Downloader: Sendable {
  package let configuration: DownloadConfiguration
  private let runner: CurlThread
  private let admission: AdmissionController
  /// The remaining time for pauses outside of downloads.
  private let waitBudget: Mutex<WaitBudget>
  private let unknownHosts: UnknownHosts
  let bodyMemory: WeightedSemaphore?
  private let spillMemory: WeightedSemaphore?

  /// Starts nothing: the curl thread starts with the first download.
  ///
  /// With `bodyMemory`, each download reserves a share for its body after it has a slot and before its transfer. The
  /// share is kept as long as the `Download` lives. `spillMemory` lends the bytes of files in memory, which are used if
  /// no directory has room for a large body.
  package init(
    _ configuration: DownloadConfiguration, bodyMemory: WeightedSemaphore? = nil, spillMemory: WeightedSemaphore? = nil
  ) {
    self.configuration = configuration
    self.bodyMemory = bodyMemory
    self.spillMemory = spillMemory
    runner = CurlThread(maximumIdleConnections: 2 * max(1, configuration.maximumDownloads))
    admission = AdmissionController(configuration, runner)
    waitBudget = Mutex(WaitBudget(configuration.maximumWait))
    unknownHosts = UnknownHosts(patience: configuration.resolverPatience)
  }

  /// The running transfers, silent ones included.
  var activeDownloads: Int { admission.access { $0.running + $0.lent } }
  /// The downloads that wait for a slot.
  package var waitingDownloads: Int { admission.access { $0.waiting } }

  /// The number of downloads waiting for a silent server, by host.
  package var silentDownloads: [String: Int] { admission.silentDownloads }

  /// An empty buffer for a body from another source, which spills like the bodies of downloads.
  package func makeBodyBuffer() -> BodyBuffer {
    BodyBuffer(
      memoryLimit: configuration.memoryBodyLimit, spillsTo: configuration.spillLocations(spillMemory))
  }

  /// An empty file for the parts of a body. It is on a disk, because a download that waits for a slot must hold no
  /// memory.
  package func makePartsFile(length: Int) -> PartsFile {
    PartsFile(length: length, in: configuration.spillLocations(nil))
  }

  /// Whether a request other than a download, such as one for a search page, may wait this long. All such waits share
  /// one limit.
  package func mayWait(for pause: Duration) -> Bool {
    let now = ContinuousClock.now
    return waitBudget.withLock { $0.take(until: now + pause, from: now) }
  }

  /// Downloads an image, or the response of an API. The observer gets every byte of a successful response as it
  /// arrives.
  ///
  /// Cancelling the task closes the connection, or removes the download from its queue. The observer is not called
  /// after this returns.
  ///
  /// - Throws: `DownloadError`, also for an error status of an image request.
  package func download(
    _ request: DownloadRequest, observer: (any BodyObserver)? = nil, priority: PriorityControl
  ) async throws(DownloadError) -> Download {
    var attempts = Attempts(try Transfer(request, configuration, spillMemory: spillMemory), admission, priority)
    attempts.transfer.observer = observer
    let download = attempts.download
    await download.loadPartialBody()
    attempts.partialBytes = download.partialCount
    let result: Result<Download, DownloadError>
    do throws(DownloadError) {
      result = .success(try await perform(&attempts))
    } catch {
      result = .failure(error)
    }
    download.endSilence()
    admission.access { $0.forget(download.ticket) }
    // A later request for the same image must find the complete partial file.
    await download.settle()
    return try result.get()
  }

  // MARK: Attempts

  /// The attempts of one download so far.
  private struct Attempts {
    /// The transfer to begin the next one with.
    var transfer: Transfer
    let download: DownloadState
    let priority: PriorityControl
    /// The attempts that have started a transfer.
    var count = 0
    /// The failed attempts that count.
    var failures = 0
    /// The length of the partial body when the last attempt with progress began.
    var partialBytes = 0
    /// Whether the download waits behind all others because it has failed or its server was silent.
    var isDeferred = false
    /// Whether the resolver was asked whether the host exists.
    var hasAskedResolver = false

    var request: DownloadRequest { transfer.request }
    /// The most attempts, unless the host allows more.
    var most: Int { min(transfer.configuration.retry.maximumAttempts, request.attempts ?? .max) }

    init(_ transfer: Transfer, _ admission: AdmissionController, _ priority: PriorityControl) {
      (self.transfer, self.priority) = (transfer, priority)
      download = DownloadState(transfer, admission)
    }

    /// Moves the download behind all others.
    mutating func waitForOthers() {
      isDeferred = true
      download.waitForOthers()
    }
  }

  /// Makes attempts until one succeeds or the next is not worth it.
  private func perform(_ attempts: inout Attempts) async throws(DownloadError) -> Download {
    let (request, state) = (attempts.request, attempts.download)
    // The result of the last attempt. For an API, an error status is a response as well.
    var last: Result<Download, DownloadError>?
    while true {
      attempts.transfer.isLastAttempt = attempts.failures + 1 >= attempts.most
      let before = attempts.count
      let (failure, outcome): (DownloadError, Result<Download, DownloadError>)
      do throws(DownloadError) {
        var download = try await attempt(&attempts)
        (download.attempts, download.ticket) = (attempts.count, state.ticket)
        request.onAttempt?(attempts.count, download.status)
        download.duration = configuration.totalTimeout - attempts.transfer.timeLeft
        guard let error = download.failure else { return download }
        (failure, outcome) = (error, request.purpose == .api ? .success(download) : .failure(error))
      } catch let thrown {
        // A download that waits for a slot or a retry holds no memory, because downloads with a slot may be waiting for
        // it.
        state.exchangeBodyShare(for: nil)
        let error = await resolved(thrown, &attempts)
        if case .unknownEncoding = error, !attempts.transfer.ignoresContentEncoding {
          // The body may be fine without decompressing it.
          attempts.transfer.ignoresContentEncoding = true
          continue
        }
        // The original failure is more useful than the message that the host is held.
        if error.isOfHeldHost, let last { return try last.get() }
        if attempts.count > before, error != .cancelled, !error.isOfHeldHost { request.onAttempt?(attempts.count, nil) }
        if case .partUnavailable = error, request.part == nil {
          // The server may still send the whole.
          (attempts.transfer.asksForWhole, attempts.transfer.mayAskForWhole) = (true, false)
          continue
        }
        (failure, outcome) = (error, .failure(error))
      }
      last = outcome
      attempts.transfer.asksForWhole = false
      // While the whole is refused, too, the rest is requested as usual.
      if case .httpStatus = failure {} else { attempts.transfer.mayAskForWhole = true }
      guard let pause = pause(after: failure, &attempts) else { return try outcome.get() }
      if request.purpose == .image { attempts.waitForOthers() }
      Log.download.debug(
        "attempt \(attempts.count) at \(attempts.transfer.url.site) failed: \(failure); again in \(pause)")
      do { try await configuration.sleep(pause) } catch { throw .cancelled }
      if !failure.isPause { attempts.transfer.timeLeft -= pause }
    }
  }

  /// The pause before the next attempt; nil if there is none. Counts the failure, unless the host is to blame.
  private func pause(after error: DownloadError, _ attempts: inout Attempts) -> Duration? {
    let (request, download) = (attempts.request, attempts.download)
    guard configuration.retry.isWorthRetrying(error, request.purpose) else { return nil }
    let received = download.partialCount
    let madeProgress = received >= attempts.partialBytes + RetryPolicy.worthwhileProgress
    if madeProgress { attempts.partialBytes = received }
    // A failure that is no evidence about the host does not excuse the image.
    let excuses = download.isPatient && TransferOutcome(.failure(error), purpose: request.purpose) != .inconclusive
    let (failures, more) = admission.access {
      $0.charge(download.ticket, at: download.site, excuses: excuses, isFirst: madeProgress, now: .now)
    }
    attempts.failures = failures
    var random = SystemRandomNumberGenerator()
    guard
      let pause = configuration.retry.pause(
        after: error, of: request.purpose, failures: failures, most: attempts.most + (download.isPatient ? more : 0),
        using: &random)
    else { return nil }
    return error.isPause
      ? pause <= configuration.maximumWait ? pause : nil : pause < attempts.transfer.timeLeft ? pause : nil
  }

  /// The error of an attempt. If a name was not resolved, finds out once whether it exists. No slot or memory may be
  /// held meanwhile.
  private func resolved(_ error: DownloadError, _ attempts: inout Attempts) async -> DownloadError {
    guard case .unresolved(let host, _) = error, !attempts.hasAskedResolver else { return error }
    attempts.hasAskedResolver = true
    return await unknownHosts.confirm(host) ? .unknownHost(host) : error
  }

  /// One attempt: one transfer per redirect, until a response is not a redirect.
  private func attempt(_ attempts: inout Attempts) async throws(DownloadError) -> Download {
    let (request, state, number) = (attempts.request, attempts.download, attempts.count + 1)
    var transfer = attempts.transfer
    if request.purpose == .image { transfer.download = state }
    // The outcome of the last transfer, whose slot is still held.
    var held: TransferOutcome?
    defer { if let held { admission.update(adoptingHolds: true) { $0.release(state.ticket, held, now: .now) } } }
    while true {
      if unknownHosts.contains(transfer.url.host) { throw .unknownHost(transfer.url.host) }
      let previous = held.take()
      try await admission.wait(
        for: state, at: transfer.url, priority: attempts.priority, limit: request.downloadsPerHost,
        isDeferred: attempts.isDeferred, releasing: previous)
      held = .inconclusive
      // Another download may have found that out meanwhile.
      if unknownHosts.contains(transfer.url.host) { throw .unknownHost(transfer.url.host) }
      if request.purpose == .image, !state.holdsMemory { try await reserveBodyMemory(attempts) }
      await state.settle()
      guard !Task.isCancelled else { throw .cancelled }
      attempts.count = number
      let start = ContinuousClock.now
      let result = await runner.perform(transfer)
      transfer.timeLeft -= ContinuousClock.now - start
      attempts.transfer.timeLeft = transfer.timeLeft
      // A name that may not exist is no evidence about a host.
      let mayBeUnknown = if case .failure(.unresolved) = result { !attempts.hasAskedResolver } else { false }
      if !mayBeUnknown { held = TransferOutcome(result, purpose: request.purpose) }
      if case .failure(.cancelled) = result, state.isPreempted, !Task.isCancelled {
        state.exchangeBodyShare(for: nil)
        attempts.waitForOthers()
        continue
      }
      var download = try result.get()
      if let location = download.head.redirectLocation {
        state.exchangeBodyShare(for: nil)
        try transfer.follow(location)
        continue
      }
      // The body is in a file, but its memory must be reserved before its decode, like that of all others.
      if state.hasLeftMemory, !download.isUnchanged {
        if let outcome = held { admission.update(adoptingHolds: true) { $0.ended(state.ticket, outcome, now: .now) } }
        held = .inconclusive
        try await reserveBodyMemory(attempts)
      }
      if state.isPatient, download.failure == nil { admission.noteImage(of: transfer) }
      // Without a body there is no memory to account for.
      let share = state.exchangeBodyShare(for: nil)
      download.bodyShare = download.isUnchanged ? nil : share
      return download
    }
  }

  private func reserveBodyMemory(_ attempts: Attempts) async throws(DownloadError) {
    guard let bodyMemory else { return }
    do throws(WeightedSemaphore.Failure) {
      let bytes = min(configuration.memoryBodyLimit, bodyMemory.capacity)
      attempts.download.exchangeBodyShare(for: try await bodyMemory.reserve(bytes, priority: attempts.priority))
    } catch {
      throw .cancelled
    }
  }
}
