import Synchronization

/// The slots of all transfers: who waits for one, who has one, and what becomes of those of silent transfers. Any thread
/// may call.
final class DownloadSlots: Sendable {
  typealias Admission = DownloadAdmission<TransferSlot>

  private let admission: Mutex<Admission>
  private let rules: LendingRules

  init(maximum: Int, maximumPerSite: Int, rules: LendingRules) {
    self.rules = rules
    admission = Mutex(Admission(maximum: maximum, maximumPerSite: maximumPerSite, rules: rules))
  }

  /// Transfers that run now, silent ones included.
  var running: Int { admission.withLock { $0.running + $0.lent } }
  /// Downloads that wait for a slot now.
  var waiting: Int { admission.withLock { $0.waiting } }
  /// The most transfers at once, those not counted that have lent their slot. Lowering it lets running ones end.
  var maximum: Int {
    get { admission.withLock { $0.maximum } }
    set {
      admission.withLock { $0.maximum = max(1, newValue) }
      proceed()
    }
  }

  /// What somebody waits for.
  struct Wish {
    var url: CurlURL
    /// The most at once that the site shall have.
    var limit: Int?
    /// The place of an earlier wait, for its age.
    var ticket: Admission.Ticket?
    /// Whether all others go first.
    var isDeferred = false
    /// Told when the transfer falls silent.
    var silence: SilenceReport?
  }

  /// Waits for a slot. One held from the transfer before is given up in the same step, so that nobody slips in between
  /// when it is the same site.
  func acquire(
    _ wish: Wish, inPlaceOf previous: TransferSlot?, priority: PriorityControl
  ) async throws(DownloadError) -> TransferSlot {
    let slot = TransferSlot(
      slots: self, host: wish.url.shownHost, shortestPatience: rules.shortestPatience, silence: wish.silence)
    let ticket = admission.withLock { admission in
      let ticket = admission.enqueue(
        slot, site: wish.url.site, at: priority.current, limit: wish.limit, returning: wish.ticket,
        deferred: wish.isDeferred)
      if let earlier = previous?.ticket { admission.release(earlier) }
      slot.ticket = ticket
      return ticket
    }
    let observation = priority.observe { [weak self] level in
      self?.admission.withLock { $0.move(ticket, to: level) }
    }
    defer { priority.stopObserving(observation) }
    // The priority may have changed before it was observed.
    admission.withLock { $0.move(ticket, to: priority.current) }
    proceed()
    try await slot.granted.wait { [weak self] in
      self?.admission.withLock { $0.remove(ticket) }?.granted.resume(with: .failure(.cancelled))
    }.get()
    return slot
  }

  /// Takes a slot back from a transfer that has ended.
  func release(_ slot: TransferSlot) {
    guard let ticket = slot.ticket else { return }
    change { $0.release(ticket) }
  }

  /// How long a transfer may bring nothing before it is silent.
  func patience(for ticket: Admission.Ticket) -> Duration { admission.withLock { $0.patience(for: ticket) } }

  /// Changes the books, and does what follows.
  func change(_ body: (inout Admission) -> Void) {
    admission.withLock { body(&$0) }
    proceed()
  }

  private func proceed() {
    while let step = admission.withLock({ $0.nextStep(at: .now) }) {
      switch step {
      case .start(let slot): slot.granted.resume(with: .success(()))
      case .putOff(let slot): slot.putOff()
      }
    }
  }
}
