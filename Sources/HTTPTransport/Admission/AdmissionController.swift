import Foundation
import Synchronization
import ThumbnailCore

/// Admits downloads to slots: synchronises `DownloadSlots` and carries out what it decides, and shares the holds of
/// hosts with other processes. Thread-safe.
final class AdmissionController: Sendable {
  private let slots: Mutex<DownloadSlots>
  private let ledger: (any HostLedger)?
  private let onHostPause: @Sendable (HostPause) -> Void
  /// When the next wake-up for held hosts is scheduled, if any.
  private let wakesAt = Mutex<ContinuousClock.Instant?>(nil)

  init(_ configuration: DownloadConfiguration) {
    slots = Mutex(
      DownloadSlots(
        .init(
          maximum: configuration.maximumDownloads, maximumPerSite: configuration.maximumDownloadsPerHost,
          policy: configuration.silence),
        policy: configuration.hosts, maximumWait: configuration.maximumWait))
    (ledger, onHostPause) = (configuration.ledger, configuration.onHostPause)
  }

  /// Reads the admission's state.
  func read<Value: Sendable>(_ body: (DownloadSlots.Admission) -> sending Value) -> Value {
    slots.withLock { body($0.admission) }
  }

  /// Whether this long a wait is within the limit of all waits for pauses.
  func mayWait(for pause: Duration) -> Bool {
    let now = ContinuousClock.now
    return slots.withLock { $0.mayWait(until: now + pause, now: now) }
  }

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
    for slot: TransferSlot, priority: PriorityControl, limit: Int?, returning earlier: DownloadSlots.Admission.Ticket?,
    isDeferred: Bool, releasing previous: TransferSlot?
  ) async throws(DownloadError) {
    let queued = update(adoptingHolds: true) { slots, effects in
      if let previous { Self.report(previous, to: &slots, &effects) }
      return Result { () throws(DownloadError) in
        defer { if let held = previous?.ticket { slots.admission.release(held) } }
        let ticket = try slots.enqueue(
          slot, at: priority.current, limit: limit, returning: earlier, deferred: isDeferred, now: .now, &effects)
        slot.ticket = ticket
        return ticket
      }
    }
    let ticket = try queued.get()
    let observation = priority.observe { [weak self] level in
      self?.slots.withLock { $0.admission.move(ticket, to: level) }
    }
    defer { priority.stopObserving(observation) }
    // The priority may have changed before the observation began.
    slots.withLock { $0.admission.move(ticket, to: priority.current) }
    let permit = try await slot.granted.wait { [weak self] in
      self?.slots.withLock { $0.admission.remove(ticket) }?.granted.resume(with: .failure(.cancelled))
    }.get()
    slot.begin(with: permit)
  }

  /// Updates the state of the host with the verdict of a transfer that keeps its slot for now.
  func report(_ slot: TransferSlot) {
    update(adoptingHolds: true) { slots, effects in Self.report(slot, to: &slots, &effects) }
  }

  /// Releases the slot, and updates the state of its host with the verdict of the transfer.
  func release(_ slot: TransferSlot) {
    guard let ticket = slot.ticket else { return }
    update(adoptingHolds: true) { slots, effects in
      Self.report(slot, to: &slots, &effects)
      slots.admission.release(ticket)
    }
  }

  /// The verdict of one transfer counts once.
  private static func report(
    _ slot: TransferSlot, to slots: inout DownloadSlots, _ effects: inout DownloadSlots.Effects
  ) {
    guard let (permit, verdict) = slot.takeVerdict() else { return }
    slots.ended(permit, verdict, now: .now, &effects)
  }

  /// Changes the slots, grants those that have become free, and carries out the effects after releasing the lock.
  ///
  /// - Parameter adoptingHolds: Whether to look first for holds that other processes have shared. Costs a system call.
  @discardableResult
  func update<Value: Sendable>(
    adoptingHolds: Bool = false, _ change: (inout DownloadSlots, inout DownloadSlots.Effects) -> sending Value
  ) -> Value {
    let shared = adoptingHolds ? sharedHolds() : []
    let (value, effects, trial) = slots.withLock { slots in
      var effects = DownloadSlots.Effects()
      for (site, hold) in shared { slots.adopt(hold, of: site, now: .now, &effects) }
      let value = change(&slots, &effects)
      while let step = slots.nextStep(at: .now) { effects.steps.append(step) }
      return (value, effects, slots.nextTrial)
    }
    for (slot, error) in effects.failed { slot.granted.resume(with: .failure(error)) }
    for step in effects.steps {
      switch step {
      case .start(let slot, let permit): slot.granted.resume(with: .success(permit))
      case .preempt(let slot): slot.preempt()
      }
    }
    if let (site, hold) = effects.hold { share(hold, of: site) }
    for pause in effects.pauses { onHostPause(pause) }
    if let trial { wake(at: trial) }
    return value
  }

  // MARK: Held hosts

  /// The holds that other processes have shared since the last call.
  private func sharedHolds() -> [(site: String, hold: CircuitBreaker.Hold)] {
    guard let records = ledger?.news() else { return [] }
    let (now, date) = (ContinuousClock.now, Date())
    return records.compactMap { key, record in
      guard let site = key.site, let until = record.until, until > date else { return nil }
      let hold = CircuitBreaker.Hold(
        until: now + .seconds(until.timeIntervalSince(date)),
        cause: record.failure.map { .failures(reason: $0) } ?? .requested, strikes: max(1, record.strikes))
      return (site, hold)
    }
  }

  private func share(_ hold: CircuitBreaker.Hold, of site: String) {
    let until = Date() + (hold.until - .now) / .seconds(1)
    ledger?.note(.host(site)) { record in
      if let known = record.until, known > until { return }
      record.until = until
      record.strikes = hold.strikes
      record.failure = nil
      if case .failures(let reason) = hold.cause { record.failure = String(reason.prefix(200)) }
    }
  }

  /// Schedules a trial of a host that has waiters for when its hold ends.
  private func wake(at trial: ContinuousClock.Instant) {
    let isEarliest = wakesAt.withLock { wakesAt in
      if let wakesAt, wakesAt <= trial { return false }
      wakesAt = trial
      return true
    }
    guard isEarliest else { return }
    Task { [weak self] in
      try? await Task.sleep(until: trial, clock: .continuous)
      self?.wakesAt.withLock { $0 = nil }
      self?.update { slots, _ in slots.wake(now: .now) }
    }
  }
}
