import Logging
import Synchronization
import ThumbnailCore

/// One transfer's slot, from waiting to its end, and the link through which the curl thread reports its progress.
final class TransferSlot: Sendable {
  private struct State {
    var ticket: DownloadSlots.Admission.Ticket?
    var permit: CircuitBreaker.Permit?
    var verdict = CircuitBreaker.Verdict.inconclusive
    var bodyShare: WeightedSemaphore.Reservation?
    var hasLeftMemory = false
    var isPreempted = false
    /// Stops the transfer, once it runs.
    var stop: (@Sendable () -> Void)?
  }

  /// The origin that the transfer goes to.
  let site: String
  /// Whether the download waits while its host is held; otherwise it fails.
  let mayWait: Bool
  /// Resumed when the slot is granted.
  let granted = Promise<CircuitBreaker.Permit, DownloadError>()
  /// The transfer never counts as silent before this.
  let shortestTimeout: Duration
  /// Nil in tests of the admission's state alone. It refers to this slot only while that waits or runs.
  private let admission: AdmissionController?
  /// The host for messages.
  private let host: String
  private let silence: SilenceReport?
  private let logger: Logger
  private let state = Mutex(State())

  /// - Parameter silence: Told when the transfer falls silent, and when it continues.
  init(
    _ admission: AdmissionController?, at url: CurlURL, mayWait: Bool, silence: SilenceReport?,
    shortestTimeout: Duration, logger: Logger = Log.download
  ) {
    self.admission = admission
    (site, host, self.mayWait) = (url.site, url.shownHost, mayWait)
    (self.silence, self.shortestTimeout, self.logger) = (silence, shortestTimeout, logger)
  }

  /// Its ticket in the admission; nil before it is enqueued.
  var ticket: DownloadSlots.Admission.Ticket? {
    get { state.withLock { $0.ticket } }
    set { state.withLock { $0.ticket = newValue } }
  }

  // MARK: The downloader

  /// The slot was granted with the circuit breaker's permit.
  func begin(with permit: CircuitBreaker.Permit) { state.withLock { $0.permit = permit } }

  /// The transfer has ended. A timeout says nothing about the host if it responds to others.
  func end(with result: Result<Download, DownloadError>, purpose: DownloadRequest.Purpose) {
    var verdict = CircuitBreaker.Verdict(result, purpose: purpose)
    if case .failure(.timedOut) = result, let ticket,
      admission?.read({ $0.hasRespondedToOthers(since: ticket) }) == true
    {
      verdict = .inconclusive
    }
    state.withLock { [verdict] in $0.verdict = verdict }
  }

  /// What the transfer says about its host: nothing if it did not run. Nil when it was taken before.
  func takeVerdict() -> (CircuitBreaker.Permit, CircuitBreaker.Verdict)? {
    state.withLock { state in state.permit.take().map { ($0, state.verdict) } }
  }

  /// Sets the share of body memory, released when the body leaves memory.
  func hold(_ bodyShare: WeightedSemaphore.Reservation?) { state.withLock { $0.bodyShare = bodyShare } }

  /// Whether the body has left memory and its share was released.
  var hasLeftMemory: Bool { state.withLock { $0.hasLeftMemory } }

  /// Whether the transfer was stopped to free its slot, to be retried after the others.
  var isPreempted: Bool { state.withLock { $0.isPreempted } }

  /// Stops the transfer to free its slot.
  func preempt() {
    logger.debug("\(host) has fallen silent: one picture is put off until the others are done")
    let stop = state.withLock { state in
      state.isPreempted = true
      return state.stop
    }
    stop?()
  }

  // MARK: The curl thread

  /// The transfer has begun; `stop` ends it.
  func begin(stop: @escaping @Sendable () -> Void) {
    let isPreempted = state.withLock { state in
      state.stop = stop
      return state.isPreempted
    }
    if isPreempted { stop() }
  }

  /// How long it may receive nothing at this moment.
  var silenceTimeout: Duration {
    ticket.flatMap { ticket in admission?.read { $0.silenceTimeout(for: ticket) } } ?? .seconds(1)
  }

  /// Whether other downloads run or wait at its host.
  var othersUseHost: Bool { admission?.read { $0.isShared(site) } ?? false }

  /// Bytes have arrived.
  func received(_ arrival: SilenceDetector.Arrival) {
    guard let ticket, arrival.responseTime != nil || arrival.endsSilence else { return }
    silence?.resumed()
    admission?.update { slots, _ in
      if let time = arrival.responseTime { slots.admission.responseBegan(ticket, after: time) }
      if arrival.endsSilence { slots.admission.resumed(ticket) }
    }
  }

  /// Nothing arrived for its silence timeout. Its body has left memory if that was possible.
  func fellSilent(since: ContinuousClock.Instant, hasLeftMemory: Bool) {
    guard let ticket else { return }
    let share = state.withLock { state -> WeightedSemaphore.Reservation? in
      guard hasLeftMemory else { return nil }
      state.hasLeftMemory = true
      return state.bodyShare.take()
    }
    share?.release()
    silence?.fellSilent(at: host)
    admission?.update { slots, _ in slots.admission.fellSilent(ticket, since: since) }
  }
}
