import Synchronization
import ThumbnailCore

/// One transfer's slot, from waiting to its end, and the link through which the curl thread reports its progress.
final class TransferSlot: Sendable {
  private struct State {
    var ticket: DownloadSlots.Admission.Ticket?
    var bodyShare: WeightedSemaphore.Reservation?
    var hasLeftMemory = false
    var isPutOff = false
    /// Stops the transfer, once it runs.
    var stop: (@Sendable () -> Void)?
  }

  /// Resumed when the slot is granted.
  let granted = Promise<CircuitBreaker.Pass, DownloadError>()
  /// The transfer never counts as silent before this.
  let shortestTimeout: Duration
  /// Holds the admission state; nil in tests of that state alone. It refers to this slot only while it waits or runs.
  private let downloader: Downloader?
  private let host: String
  private let silence: SilenceReport?
  private let state = Mutex(State())

  /// - Parameter silence: Told when the transfer falls silent, and when it continues.
  init(_ downloader: Downloader?, host: String, shortestTimeout: Duration, silence: SilenceReport?) {
    (self.downloader, self.host) = (downloader, host)
    (self.shortestTimeout, self.silence) = (shortestTimeout, silence)
  }

  /// Its ticket in the admission; nil before it is enqueued.
  var ticket: DownloadSlots.Admission.Ticket? {
    get { state.withLock { $0.ticket } }
    set { state.withLock { $0.ticket = newValue } }
  }

  // MARK: The downloader

  /// Sets the share of body memory, released when the body leaves memory.
  func hold(_ bodyShare: WeightedSemaphore.Reservation?) { state.withLock { $0.bodyShare = bodyShare } }

  /// Whether the body has left memory and its share was released.
  var hasLeftMemory: Bool { state.withLock { $0.hasLeftMemory } }

  /// Whether the transfer was stopped to free its slot, to be retried after the others.
  var isPutOff: Bool { state.withLock { $0.isPutOff } }

  /// Stops the transfer to free its slot.
  func putOff() {
    Log.download.debug("\(host) has fallen silent: one picture is put off until the others are done")
    let stop = state.withLock { state in
      state.isPutOff = true
      return state.stop
    }
    stop?()
  }

  // MARK: The curl thread

  /// The transfer has begun; `stop` ends it.
  func begin(stop: @escaping @Sendable () -> Void) {
    let isPutOff = state.withLock { state in
      state.stop = stop
      return state.isPutOff
    }
    if isPutOff { stop() }
  }

  /// How long it may receive nothing at this moment.
  var silenceTimeout: Duration { ticket.flatMap { downloader?.silenceTimeout(for: $0) } ?? .seconds(1) }

  /// Something arrived.
  func heard(_ arrival: TransferSilence.Arrival) {
    guard let ticket, arrival.responseTime != nil || arrival.endsSilence else { return }
    silence?.resumed()
    downloader?.changeAdmission { admission in
      if let time = arrival.responseTime { admission.answered(ticket, after: time) }
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
    downloader?.changeAdmission { $0.fellSilent(ticket, since: since) }
  }
}
