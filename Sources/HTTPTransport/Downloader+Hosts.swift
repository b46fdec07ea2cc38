import Foundation
import Synchronization
import ThumbnailCore

/// Held hosts and their waiters.
extension Downloader {
  /// Updates the host's state with the outcome of a transfer. A repeated report for one transfer counts once.
  func ended(_ pass: CircuitBreaker.Pass, _ verdict: CircuitBreaker.Verdict) {
    changeSlots { slots, effects in slots.ended(pass, verdict, now: .now, &effects) }
    adoptNews()
    admitWaiting()
  }

  /// Whether something other than a download, such as a request for a search page, may wait this long: all waits for
  /// pauses share one limit.
  package func mayWait(for pause: Duration) -> Bool {
    let now = ContinuousClock.now
    return slots.withLock { $0.mayWait(until: now + pause, now: now) }
  }

  /// Changes the slots, then carries out the effects after releasing the lock.
  @discardableResult
  func changeSlots<Value: Sendable>(
    _ change: (inout DownloadSlots, inout DownloadSlots.Effects) -> sending Value
  ) -> Value {
    let (value, effects, trial) = slots.withLock { slots in
      var effects = DownloadSlots.Effects()
      let value = change(&slots, &effects)
      return (value, effects, slots.nextTrial)
    }
    for (slot, error) in effects.failed { slot.granted.resume(with: .failure(error)) }
    if let (site, hold) = effects.hold { share(hold, of: site) }
    for news in effects.news { configuration.onHostPause(news) }
    if let trial { wake(at: trial) }
    return value
  }

  /// Adopts the holds that other processes have shared.
  func adoptNews() {
    guard let records = configuration.ledger?.news() else { return }
    let (now, date) = (ContinuousClock.now, Date())
    for (key, record) in records {
      guard let site = key.site, let until = record.until, until > date else { continue }
      let hold = CircuitBreaker.Hold(
        until: now + .seconds(until.timeIntervalSince(date)),
        cause: record.failure.map { .failures(reason: $0) } ?? .asked, strikes: max(1, record.strikes))
      changeSlots { slots, effects in slots.adopt(hold, of: site, now: now, &effects) }
    }
  }

  private func share(_ hold: CircuitBreaker.Hold, of site: String) {
    let until = Date() + (hold.until - .now) / .seconds(1)
    configuration.ledger?.note(.host(site)) { record in
      if let known = record.until, known > until { return }
      record.until = until
      record.strikes = hold.strikes
      record.failure = nil
      if case .failures(let reason) = hold.cause { record.failure = String(reason.prefix(200)) }
    }
  }

  /// Schedules a trial of a host that has waiters for when its hold ends.
  private func wake(at trial: ContinuousClock.Instant) {
    let isNews = wakesAt.withLock { wakesAt in
      if let wakesAt, wakesAt <= trial { return false }
      wakesAt = trial
      return true
    }
    guard isNews else { return }
    Task { [weak self] in
      try? await Task.sleep(until: trial, clock: .continuous)
      self?.wake()
    }
  }

  private func wake() {
    wakesAt.withLock { $0 = nil }
    changeSlots { slots, _ in slots.wake(now: .now) }
    admitWaiting()
  }
}
