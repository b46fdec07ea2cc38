import Foundation
import Synchronization
import ThumbnailCore

/// Admits downloads to slots: synchronises `DownloadAdmission` and carries out what it decides, and shares the holds of
/// hosts with other processes. Thread-safe.
final class AdmissionController: Sendable {
  typealias Admission = DownloadAdmission<TransferSlot>

  private let admission: Mutex<Admission>
  private let ledger: (any HostLedger)?
  private let onHostPause: @Sendable (HostPause) -> Void
  /// Requests an image again that a site has sent, as `Downloader` does. Returns nil if there is none.
  private let probe: @Sendable (_ site: String) async -> TransferOutcome?
  /// When the next wake-up for held hosts is scheduled, if any.
  private let wakesAt = Mutex<ContinuousClock.Instant?>(nil)

  init(
    _ configuration: DownloadConfiguration, probe: @escaping @Sendable (_ site: String) async -> TransferOutcome?
  ) {
    var hosts = configuration.hosts
    hosts.patience = configuration.maximumWait
    if configuration.maximumWait > .zero {
      // A host that works again before the wait is over must be found out.
      hosts.unnamedPause.limit(to: configuration.maximumWait / 8)
      hosts.backoff.limit(to: configuration.maximumWait / 45)
    }
    admission = Mutex(
      Admission(
        maximum: configuration.maximumDownloads, maximumPerSite: configuration.maximumDownloadsPerHost,
        silence: configuration.silence, health: hosts))
    (ledger, onHostPause, self.probe) = (configuration.ledger, configuration.onHostPause, probe)
  }

  /// Reads the admission's state.
  func read<Value: Sendable>(_ body: (Admission) -> sending Value) -> Value { admission.withLock { body($0) } }

  // MARK: One transfer

  /// Waits until the slot is granted, and while its host is held.
  ///
  /// - Parameters:
  ///   - limit: The most concurrent transfers at the site, if the request has its own limit.
  ///   - ticket: Of an earlier wait of the download, whose age it keeps.
  ///   - isDeferred: Whether it waits behind all others.
  ///   - previous: The slot of the previous transfer. It is released in the same step, so that no other download takes
  ///     it when the site is the same.
  func wait(
    for slot: TransferSlot, priority: PriorityControl, limit: Int?, returning earlier: DownloadTicket?,
    isDeferred: Bool, releasing previous: TransferSlot?
  ) async throws(DownloadError) {
    let ticket = update(adoptingHolds: true) { admission in
      let ticket = admission.enqueue(
        slot, site: slot.site, at: priority.current, limit: limit, returning: earlier, deferred: isDeferred,
        patient: slot.isPatient, now: .now)
      slot.ticket = ticket
      if let previous { Self.release(previous, from: &admission) }
      return ticket
    }
    let observation = priority.observe { [weak self] level in
      self?.admission.withLock { $0.move(ticket, to: level) }
    }
    defer { priority.stopObserving(observation) }
    // The priority may have changed before the observation began.
    admission.withLock { $0.move(ticket, to: priority.current) }
    try await slot.granted.wait { [weak self] in
      self?.admission.withLock { $0.remove(ticket) }?.granted.resume(with: .failure(.cancelled))
    }.get()
    slot.begin()
  }

  /// Judges the host by a transfer that keeps its slot for now.
  func report(_ slot: TransferSlot) {
    update(adoptingHolds: true) { Self.report(slot, to: &$0) }
  }

  /// Releases the slot, and judges its host by the transfer.
  func release(_ slot: TransferSlot) {
    update(adoptingHolds: true) { Self.release(slot, from: &$0) }
  }

  /// Counts a failed attempt of a download at a site, unless the host is to blame. Returns how many count by now, and
  /// how many more attempts the host is worth.
  ///
  /// - Parameters:
  ///   - excuses: Whether it does not count while the host may be to blame.
  ///   - isFirst: Whether it counts as the first, since it has received much of the body.
  func charge(_ ticket: DownloadTicket, at site: String, excuses: Bool, isFirst: Bool) -> (failures: Int, more: Int) {
    admission.withLock { admission in
      if isFirst { admission.forgive(ticket) }
      let failures = isFirst ? 1 : admission.charge(ticket, at: site, excuses: excuses)
      return (failures, admission.hosts[site]?.furtherAttempts(at: .now) ?? 0)
    }
  }

  /// A download has ended.
  func forget(_ ticket: DownloadTicket) { admission.withLock { $0.forget(ticket) } }

  private static func release(_ slot: TransferSlot, from admission: inout Admission) {
    report(slot, to: &admission)
    if let ticket = slot.ticket { admission.release(ticket) }
  }

  /// The outcome of one transfer counts once.
  private static func report(_ slot: TransferSlot, to admission: inout Admission) {
    guard let ticket = slot.ticket, let outcome = slot.takeOutcome() else { return }
    admission.ended(ticket, outcome, now: .now)
  }

  /// Changes the admission, and carries out the steps that follow after releasing the lock.
  ///
  /// - Parameter adoptingHolds: Whether to look first for holds that other processes have shared. Costs a system call.
  @discardableResult
  func update<Value: Sendable>(
    adoptingHolds: Bool = false, _ change: (inout Admission) -> sending Value
  ) -> Value {
    let shared = adoptingHolds ? sharedHolds() : []
    let (value, steps, wake) = admission.withLock { admission in
      for (site, hold) in shared { admission.adopt(hold, of: site, now: .now) }
      let value = change(&admission)
      var steps: [Admission.Step] = []
      // One time for both: what is due between two would be neither done nor waited for.
      let now = ContinuousClock.now
      while let step = admission.nextStep(at: now) { steps.append(step) }
      return (value, steps, admission.nextWake(after: now))
    }
    for step in steps { carryOut(step) }
    if let wake { self.wake(at: wake) }
    return value
  }

  private func carryOut(_ step: Admission.Step) {
    switch step {
    case .start(let slot): slot.granted.resume(with: .success(()))
    case .preempt(let slot): slot.preempt()
    case .park(let slot): slot.park()
    case .fail(let slot, let hold): slot.granted.resume(with: .failure(hold.error(of: slot.site, now: .now)))
    case .probe(let site, let ticket):
      Task { [weak self, probe] in
        let outcome = await probe(site)
        self?.update { $0.probed(ticket, at: site, outcome, now: .now) }
      }
    case .share(let site, let hold): share(hold, of: site)
    case .report(let site, let hold, let isWaitedFor):
      onHostPause(hold.pause(of: site, isWaitedFor: isWaitedFor, now: .now))
    }
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
