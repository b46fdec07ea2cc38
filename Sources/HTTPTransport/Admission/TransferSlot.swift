import Logging
import Synchronization
import ThumbnailCore

/// One transfer's slot, from waiting to its end, and the link through which the curl thread reports its progress.
final class TransferSlot: Sendable {
  private struct State {
    var ticket: DownloadTicket?
    /// What its transfer says about the host, until that was taken; nil as long as it does not run.
    var outcome: TransferOutcome?
    var bodyShare: WeightedSemaphore.Reservation?
    var hasLeftMemory = false
    var isPreempted = false
    /// Stops the transfer, once it runs.
    var stop: (@Sendable () -> Void)?
  }

  /// The origin that the transfer goes to.
  let site: String
  /// Whether the download waits while its host is held; otherwise it fails.
  let isPatient: Bool
  /// Resumed when the slot is granted.
  let granted = Promise<Void, DownloadError>()
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
    _ admission: AdmissionController?, at url: CurlURL, isPatient: Bool, silence: SilenceReport?,
    shortestTimeout: Duration, logger: Logger = Log.download
  ) {
    self.admission = admission
    (site, host, self.isPatient) = (url.site, url.shownHost, isPatient)
    (self.silence, self.shortestTimeout, self.logger) = (silence, shortestTimeout, logger)
  }

  /// Its ticket in the admission; nil before it is enqueued.
  var ticket: DownloadTicket? {
    get { state.withLock { $0.ticket } }
    set { state.withLock { $0.ticket = newValue } }
  }

  // MARK: The downloader

  /// The slot was granted.
  func begin() { state.withLock { $0.outcome = .inconclusive } }

  /// The transfer has ended.
  func end(with outcome: TransferOutcome) { state.withLock { $0.outcome = outcome } }

  /// What the transfer says about its host; nil if it did not run, or when that was taken before.
  func takeOutcome() -> TransferOutcome? { state.withLock { $0.outcome.take() } }

  /// The download waits for a held host.
  func park() { silence?.deferred() }

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
    admission?.update { admission in
      if let time = arrival.responseTime { admission.responseBegan(ticket, after: time) }
      if arrival.endsSilence { admission.resumed(ticket) }
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
    admission?.update { $0.fellSilent(ticket, since: since, now: .now) }
  }
}
