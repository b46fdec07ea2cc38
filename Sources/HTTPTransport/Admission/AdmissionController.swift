import Foundation
import Synchronization
import ThumbnailCore

/// Admits downloads to slots: synchronises `DownloadAdmission` and carries out what it decides, and shares the holds of
/// hosts with other processes. Thread-safe.
final class AdmissionController: Sendable {
  typealias Admission = DownloadAdmission<NumberedTransfer>

  /// One transfer of a download, from its wait for a slot to its end.
  struct NumberedTransfer {
    let download: DownloadState
    /// See `DownloadState.beginWait`.
    let number: Int
  }

  private let admission: Mutex<Admission>
  private let ledger: (any HostLedger)?
  private let onHostPause: @Sendable (HostPause) -> Void
  private let probes: HostProbes
  /// The number of downloads that wait for a silent server, by host.
  private let silent = Mutex<[String: Int]>([:])
  /// When the next wake-up for held hosts is scheduled, if any.
  private let wakesAt = Mutex<ContinuousClock.Instant?>(nil)

  init(_ configuration: DownloadConfiguration, _ runner: CurlThread) {
    var hosts = configuration.hosts
    hosts.patience = configuration.maximumWait
    if configuration.maximumWait > .zero {
      // A host that works again must be tried before the wait is over.
      hosts.unnamedPause.limit(to: configuration.maximumWait / 8)
      hosts.backoff.limit(to: configuration.maximumWait / 45)
    }
    admission = Mutex(
      Admission(
        maximum: configuration.maximumDownloads, maximumPerSite: configuration.maximumDownloadsPerHost,
        silence: configuration.silence, health: hosts))
    (ledger, onHostPause) = (configuration.ledger, configuration.onHostPause)
    probes = HostProbes(configuration, runner)
  }

  /// Reads or changes the admission's state, if no step can follow.
  func access<Value: Sendable>(_ body: (inout Admission) -> sending Value) -> Value { admission.withLock { body(&$0) } }

  /// The number of downloads that wait for a silent server, by host, without zeros.
  var silentDownloads: [String: Int] { silent.withLock { $0 } }

  /// Counts a download that begins (`new`) or stops (`old`) waiting for a silent server.
  func countSilent(from old: String?, to new: String?) {
    silent.withLock { counts in
      if let old { counts[old] = counts[old].flatMap { $0 > 1 ? $0 - 1 : nil } }
      if let new { counts[new, default: 0] += 1 }
    }
  }

  // MARK: One transfer

  /// Waits until a slot for the download's next transfer is granted, and while its host is held.
  ///
  /// - Parameters:
  ///   - limit: The most concurrent transfers at the site, if the request has its own limit.
  ///   - isDeferred: Whether it waits behind all others.
  ///   - previous: What the previous transfer says about its host. Its slot is released in the same step, so that no
  ///     other download takes it when the site is the same.
  func wait(
    for download: DownloadState, at url: CurlURL, priority: PriorityControl, limit: Int?, isDeferred: Bool,
    releasing previous: TransferOutcome?
  ) async throws(DownloadError) {
    let (ticket, level, number) = (download.ticket, priority.current, download.beginWait(at: url))
    update(adoptingHolds: true) { admission in
      admission.enqueue(
        NumberedTransfer(download: download, number: number), ticket, site: url.site, at: level, limit: limit,
        isReturning: number > 1, deferred: isDeferred, patient: download.isPatient, now: .now)
      if let previous { admission.release(ticket, previous, now: .now) }
    }
    let observation = priority.observe(since: level) { [weak self] level in
      self?.admission.withLock { $0.move(ticket, to: level) }
    }
    defer { priority.stopObserving(observation) }
    try await download.waitForSlot { [weak self] in
      self?.admission.withLock { $0.remove(ticket) }?.download.endWait(.failure(.cancelled))
    }
  }

  /// Changes the admission, and carries out the steps that follow after releasing the lock.
  ///
  /// - Parameter adoptingHolds: Whether to look first for holds that other processes have shared. Costs a system call.
  func update(adoptingHolds: Bool = false, _ change: (inout Admission) -> Void) {
    let shared = adoptingHolds ? sharedHolds() : []
    let (steps, wake) = admission.withLock { admission in
      for (site, hold) in shared { admission.adopt(hold, of: site, now: .now) }
      change(&admission)
      var steps: [Admission.Step] = []
      // The same time for both calls. A step that becomes due between two times would be neither carried out nor
      // scheduled.
      let now = ContinuousClock.now
      while let step = admission.nextStep(at: now) { steps.append(step) }
      return (steps, admission.nextWake(after: now))
    }
    for step in steps { carryOut(step) }
    if let wake { self.wake(at: wake) }
  }

  private func carryOut(_ step: Admission.Step) {
    switch step {
    case .start(let transfer): transfer.download.endWait(.success(()))
    case .preempt(let transfer): transfer.download.preempt(transfer.number)
    case .park(let transfer): transfer.download.waitForOthers()
    case .fail(let transfer, let hold):
      transfer.download.endWait(.failure(hold.error(of: transfer.download.site, now: .now)))
    case .probe(let site, let ticket):
      Task { [weak self, probes] in
        let outcome = await probes.run(at: site)
        self?.update { $0.probed(ticket, at: site, outcome, now: .now) }
      }
    case .share(let site, let hold): share(hold, of: site)
    case .report(let site, let hold, let isWaitedFor):
      onHostPause(hold.pause(of: site, isWaitedFor: isWaitedFor, now: .now))
    }
  }

  /// Records that a transfer has delivered an image. Its URL can probe the host later.
  func noteImage(of transfer: Transfer) {
    if probes.add(transfer) { update { $0.hasSentImage(transfer.url.site) } }
  }

  // MARK: Held hosts

  /// The holds that other processes have shared since the last call.
  private func sharedHolds() -> [(site: String, hold: HostHealth.Hold)] {
    guard let records = ledger?.news() else { return [] }
    let (now, date) = (ContinuousClock.now, Date())
    return records.compactMap { key, record in
      guard let site = key.site, let until = record.until, until > date else { return nil }
      let hold = HostHealth.Hold(
        until: now + .seconds(min(until.timeIntervalSince(date), 1e9)),
        cause: record.failure.map { .failures(reason: $0) } ?? .requested, strikes: max(1, record.strikes))
      return (site, hold)
    }
  }

  private func share(_ hold: HostHealth.Hold, of site: String) {
    let until = Date() + (hold.until - .now) / .seconds(1)
    ledger?.note(.host(site)) { record in
      if let known = record.until, known > until { return }
      record.until = until
      record.strikes = hold.strikes
      record.failure = nil
      if case .failures(let reason) = hold.cause { record.failure = String(reason.prefix(200)) }
    }
  }

  /// Schedules the next step that becomes due by time alone.
  private func wake(at time: ContinuousClock.Instant) {
    let isEarliest = wakesAt.withLock { wakesAt in
      if let wakesAt, wakesAt <= time { return false }
      wakesAt = time
      return true
    }
    guard isEarliest else { return }
    Task { [weak self] in
      try? await Task.sleep(until: time, clock: .continuous)
      self?.wakesAt.withLock { if $0 == time { $0 = nil } }
      self?.update { _ in }
    }
  }
}

/// Requests an image again that a host has sent before, to find out whether the host is down or only the remaining
/// images fail. Waits for the head of the response only.
private final class HostProbes: Sendable {
  /// The most hosts that can be probed. Beyond that, the list is cleared.
  private static let mostHosts = 1024
  /// The timeout of a probe. Meanwhile no download may start at its host.
  private static let timeLimit = Duration.seconds(3)
  /// An image of at most this length is read to its end, so that the connection can be reused.
  private static let byteLimit = 1 << 20

  private let configuration: DownloadConfiguration
  private let runner: CurlThread
  /// A request for each site.
  private let requests = Mutex<[String: DownloadRequest]>([:])

  init(_ configuration: DownloadConfiguration, _ runner: CurlThread) {
    (self.configuration, self.runner) = (configuration, runner)
  }

  /// Records that a transfer has delivered an image. Returns whether it is the first of its site.
  func add(_ transfer: Transfer) -> Bool {
    requests.withLock { requests in
      guard requests[transfer.url.site] == nil, let url = URL(string: transfer.url.text) else { return false }
      if requests.count >= Self.mostHosts { requests = [:] }
      requests[transfer.url.site] = DownloadRequest(url: url, headers: transfer.headers, byteLimit: Self.byteLimit)
      return true
    }
  }

  /// Requests the image of a site again; nil if none is known.
  func run(at site: String) async -> TransferOutcome? {
    guard let request = requests.withLock({ $0[site] }), var transfer = try? Transfer(request, configuration) else {
      return nil
    }
    (transfer.observer, transfer.timeLeft) = (HeadObserver(), Self.timeLimit)
    let result = await runner.perform(transfer)
    if case .failure(.timedOut) = result { return .failed(reason: "it fell silent") }
    return TransferOutcome(result, purpose: .image)
  }
}

/// Needs no more than the head of a response.
private final class HeadObserver: BodyObserver {
  func bodyBegins(expectedLength: Int?) {}
  func bodyReceived(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> BodyVerdict { .enough }
}
