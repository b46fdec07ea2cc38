import Synchronization
import ThumbnailCore

/// The place of one transfer among those that run, from its wait to its end, and what the curl thread tells of it.
final class TransferSlot: Sendable {
  private struct State {
    var ticket: DownloadSlots.Admission.Ticket?
    var bodyShare: ByteSemaphore.Reservation?
    var hasLeftMemory = false
    var isPutOff = false
    /// Stops the transfer, once it runs.
    var stop: (@Sendable () -> Void)?
  }

  /// Resumed when the slot is there.
  let granted = Promise<HostStates.Pass, DownloadError>()
  /// No transfer is silent before.
  let shortestPatience: Duration
  /// Keeps the books of all slots; nil in tests of the books alone. It holds this slot only while that waits or runs.
  private let downloader: Downloader?
  private let host: String
  private let silence: SilenceReport?
  private let state = Mutex(State())

  /// - Parameter silence: Told when the transfer falls silent, and when it goes on.
  init(_ downloader: Downloader?, host: String, shortestPatience: Duration, silence: SilenceReport?) {
    (self.downloader, self.host) = (downloader, host)
    (self.shortestPatience, self.silence) = (shortestPatience, silence)
  }

  /// What the admission knows it by; nil before it waits there.
  var ticket: DownloadSlots.Admission.Ticket? {
    get { state.withLock { $0.ticket } }
    set { state.withLock { $0.ticket = newValue } }
  }

  // MARK: The downloader

  /// The share of the memory for bodies that goes back when the body leaves memory.
  func hold(_ bodyShare: ByteSemaphore.Reservation?) { state.withLock { $0.bodyShare = bodyShare } }

  /// Whether the body is no longer in memory, and its share went back.
  var hasLeftMemory: Bool { state.withLock { $0.hasLeftMemory } }

  /// Whether the transfer was stopped to make room, to be tried again after the others.
  var isPutOff: Bool { state.withLock { $0.isPutOff } }

  /// Stops the transfer to make room.
  func putOff() {
    Log.download.debug("\(host) has fallen silent: one picture is put off until the others are done")
    let stop = state.withLock { state in
      state.isPutOff = true
      return state.stop
    }
    stop?()
  }

  // MARK: The curl thread

  /// The transfer has begun, and this stops it.
  func begin(stop: @escaping @Sendable () -> Void) {
    let isPutOff = state.withLock { state in
      state.stop = stop
      return state.isPutOff
    }
    if isPutOff { stop() }
  }

  /// How long it may bring nothing at this moment.
  var patience: Duration { ticket.flatMap { downloader?.patience(for: $0) } ?? .seconds(1) }

  /// Something came.
  func heard(_ arrival: TransferSilence.Arrival) {
    guard let ticket, arrival.responseTime != nil || arrival.endsSilence else { return }
    silence?.resumed()
    downloader?.changeAdmission { admission in
      if let time = arrival.responseTime { admission.answered(ticket, after: time) }
      if arrival.endsSilence { admission.resumed(ticket) }
    }
  }

  /// Nothing came for its patience. Its body has left memory, if that could be done.
  func fellSilent(since: ContinuousClock.Instant, hasLeftMemory: Bool) {
    guard let ticket else { return }
    let share = state.withLock { state -> ByteSemaphore.Reservation? in
      guard hasLeftMemory else { return nil }
      state.hasLeftMemory = true
      return state.bodyShare.take()
    }
    share?.release()
    silence?.fellSilent(at: host)
    downloader?.changeAdmission { $0.fellSilent(ticket, since: since) }
  }
}
