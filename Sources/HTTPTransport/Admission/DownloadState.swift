import Synchronization
import ThumbnailCore

/// Whether a download waits for a silent server.
package enum ServerSilence: Sendable {
  /// The server responds, as far as is known.
  case responding
  /// Its transfer receives nothing.
  case silent
  /// The download waits for its host to work again, or has failed or fallen silent and is retried after the others.
  case deferred
}

/// The state that a download's task, the admission and the curl thread share. Thread-safe.
final class DownloadState: Sendable {
  private struct State {
    // The current transfer:
    var url: CurlURL
    /// Resumed when the slot is granted.
    var granted = Promise<Void, DownloadError>()
    var isPreempted = false
    var hasLeftMemory = false
    /// Stops the transfer; nil before it runs.
    var stop: (@Sendable () -> Void)?

    // The whole download:
    /// The transfers that have waited for a slot, the current one included.
    var transfers: Int
    /// Its share of the memory for bodies; nil during a pause.
    var bodyShare: WeightedSemaphore.Reservation?
    /// The host under which it is counted as silent.
    var silentHost: String?
    /// Whether its signal says that it waits for its server.
    var isWaiting = false
    /// The partial body that an attempt has left to the next one.
    var partial: PartialBody?
    /// Whether work was queued at the store since the last wait for it.
    var isStoreBusy = false
  }

  /// Its place in the admission, with its age.
  let ticket: DownloadTicket
  /// Whether it waits while its host is held. Otherwise it fails.
  let isPatient: Bool
  /// Keeps its partial body for later runs, under `name`; nil if none is kept.
  let store: PartialStore?
  let name: String
  private let configuration: DownloadConfiguration
  /// Refers to this object only while it waits or runs.
  private let admission: AdmissionController
  /// Receives whether it waits for its server.
  private let signal: ObservedValue<ServerSilence>?
  private let state: Mutex<State>

  init(_ transfer: Transfer, _ admission: AdmissionController) {
    let request = transfer.request
    (configuration, self.admission, signal) = (transfer.configuration, admission, request.silence)
    isPatient = request.mayWait && configuration.maximumWait > .zero
    ticket = request.ticket ?? admission.access { $0.nextTicket() }
    store = request.key == nil ? nil : configuration.partialBodies
    name = request.key?.hex ?? ""
    state = Mutex(State(url: transfer.url, transfers: request.ticket == nil ? 0 : 1))
  }

  // MARK: Slots

  /// The origin of the current transfer.
  var site: String { state.withLock { $0.url.site } }

  /// The next transfer waits for its slot. Returns its number, which is greater than 1 if the download has waited before.
  func beginWait(at url: CurlURL) -> Int {
    state.withLock { state in
      state.transfers += 1
      (state.url, state.granted, state.isPreempted) = (url, Promise(), false)
      (state.hasLeftMemory, state.stop) = (false, nil)
      return state.transfers
    }
  }

  /// Ends the wait for a slot: the slot is granted, or there will be none.
  func endWait(_ result: Result<Void, DownloadError>) { state.withLock { $0.granted }.resume(with: result) }

  /// Waits until the slot is granted; `onCancel` must end the wait.
  func waitForSlot(onCancel: @escaping @Sendable () -> Void) async throws(DownloadError) {
    try await state.withLock { $0.granted }.wait(onCancel: onCancel).get()
  }

  /// The transfer has begun; `stop` ends it.
  func begin(stop: @escaping @Sendable () -> Void) {
    let isPreempted = state.withLock { state in
      state.stop = stop
      return state.isPreempted
    }
    if isPreempted { stop() }
  }

  /// Whether the transfer was stopped to free its slot, to be retried after the others.
  var isPreempted: Bool { state.withLock { $0.isPreempted } }

  /// Stops a transfer to free its slot, unless it has ended and the next one waits or runs.
  func preempt(_ number: Int) {
    let preempted = state.withLock { state -> (String, (@Sendable () -> Void)?)? in
      guard state.transfers == number else { return nil }
      state.isPreempted = true
      return (state.url.shownHost, state.stop)
    }
    guard let (host, stop) = preempted else { return }
    Log.download.debug("\(host) has fallen silent: one picture is deferred until the others are done")
    stop?()
  }

  /// Whether other downloads run or wait at its host.
  var othersUseHost: Bool { admission.access { [site] in $0.isShared(site) } }

  // MARK: Memory

  var holdsMemory: Bool { state.withLock { $0.bodyShare != nil } }

  /// Sets the share of the memory for bodies and returns the former one, which is released when it is dropped.
  @discardableResult
  func exchangeBodyShare(for share: WeightedSemaphore.Reservation?) -> WeightedSemaphore.Reservation? {
    state.withLock { state in
      defer { state.bodyShare = share }
      return state.bodyShare
    }
  }

  /// Whether the body has left memory and its share was released.
  var hasLeftMemory: Bool { state.withLock { $0.hasLeftMemory } }

  // MARK: Silence

  /// The current silence timeout of its transfer.
  var silenceTimeout: Duration { admission.access { [ticket] in $0.silenceTimeout(for: ticket) } }
  /// The shortest silence timeout.
  var shortestTimeout: Duration { configuration.silence.shortestTimeout }

  /// Bytes have arrived.
  func received(_ arrival: TransferDeadlines.Arrival) {
    guard arrival.responseTime != nil || arrival.endsSilence else { return }
    endSilence()
    admission.update { [ticket] admission in
      if let time = arrival.responseTime { admission.responseBegan(ticket, after: time) }
      if arrival.endsSilence { admission.resumed(ticket) }
    }
  }

  /// The transfer has received nothing for its silence timeout. `hasLeftMemory` says whether its body was moved out of
  /// memory.
  func fellSilent(since: ContinuousClock.Instant, hasLeftMemory: Bool) {
    if hasLeftMemory { exchangeBodyShare(for: nil) }
    let (host, former, isNew) = state.withLock { state in
      if hasLeftMemory { state.hasLeftMemory = true }
      defer { (state.silentHost, state.isWaiting) = (state.url.shownHost, true) }
      return (state.url.shownHost, state.silentHost, !state.isWaiting)
    }
    admission.countSilent(from: former, to: host)
    if isNew { signal?.set(.silent) }
    admission.update { [ticket] in $0.fellSilent(ticket, since: since, now: .now) }
  }

  /// The download waits until its host works again, or until all others are done.
  func waitForOthers() {
    state.withLock { $0.isWaiting = true }
    signal?.set(.deferred)
  }

  /// Something arrived, or the download has ended.
  func endSilence() {
    let (host, wasWaiting) = state.withLock { state in
      defer { (state.silentHost, state.isWaiting) = (nil, false) }
      return (state.silentHost, state.isWaiting)
    }
    guard wasWaiting else { return }
    admission.countSilent(from: host, to: nil)
    signal?.set(.responding)
  }

  // MARK: The partial body, from one attempt to the next

  /// The length of the partial body; 0 without one.
  var partialCount: Int { state.withLock { $0.partial?.count ?? 0 } }

  /// Loads the stored partial body of the download, if any.
  ///
  /// The disk is checked each time, because other processes write to the folder as well. A body that this process is
  /// just labelling may be missed. Then it is downloaded from its beginning.
  func loadPartialBody() async {
    guard let store, store.exists(name) else { return }
    let found = await PartialStore.onThread { [name] in store.open(name) }
    state.withLock { $0.partial = found }
  }

  /// Leaves a body for the next attempt.
  func leave(_ partial: PartialBody) { state.withLock { $0.partial = partial } }

  /// Takes the body if it came from this URL.
  func takePartialBody(from url: CurlURL) -> PartialBody? {
    state.withLock { state in state.partial.map { $0.address == url.digest } == true ? state.partial.take() : nil }
  }

  /// Queues work on the store's thread, without waiting for it.
  func onStoreThread(_ work: @escaping @Sendable () -> Void) {
    state.withLock { $0.isStoreBusy = true }
    PartialStore.onThread(work)
  }

  /// Waits until all queued work is done, because the next attempt needs the files.
  func settle() async {
    let isBusy = state.withLock { state in
      defer { state.isStoreBusy = false }
      return state.isStoreBusy
    }
    if isBusy { await PartialStore.onThread {} }
  }
}
