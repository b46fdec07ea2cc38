@testable import HTTPTransport
@testable import ThumbnailCore

/// An admission of downloads that are their names, which a test calls them by. Times are seconds.
struct NamedAdmission {
  typealias Ticket = DownloadTicket

  private var admission: DownloadAdmission<String>
  private var tickets: [String: Ticket] = [:]
  private static let start = ContinuousClock().systemEpoch

  init(maximum: Int, maximumPerSite: Int, policy: SilencePolicy = SilencePolicy()) {
    // Hosts are never held here, however many transfers are silent.
    var health = HostHealth.Policy()
    health.suspectsUntilHeld = .max
    admission = DownloadAdmission(maximum: maximum, maximumPerSite: maximumPerSite, silence: policy, health: health)
  }

  var running: Int { admission.running }
  var lent: Int { admission.lent }
  var waiting: Int { admission.waiting }

  mutating func enqueue(
    _ name: String, site: String, at level: Priority, limit: Int? = nil, returning: Ticket? = nil,
    deferred: Bool = false
  ) -> Ticket {
    let ticket = returning ?? admission.nextTicket()
    admission.enqueue(
      name, ticket, site: site, at: level, limit: limit, isReturning: returning != nil, deferred: deferred,
      now: Self.start)
    tickets[name] = ticket
    return ticket
  }

  mutating func move(_ ticket: Ticket, to level: Priority) { admission.move(ticket, to: level) }
  mutating func remove(_ ticket: Ticket) -> String? { admission.remove(ticket) }
  mutating func release(_ name: String) { tickets[name].map { admission.release($0, .inconclusive, now: Self.start) } }
  func silenceTimeout(for name: String) -> Duration? { tickets[name].map { admission.silenceTimeout(for: $0) } }
  mutating func answered(_ name: String, after seconds: Double) {
    tickets[name].map { admission.responseBegan($0, after: .seconds(seconds)) }
  }
  mutating func fellSilent(_ name: String, since seconds: Double = 0) {
    let since = Self.start + .seconds(seconds)
    tickets[name].map { admission.fellSilent($0, since: since, now: since) }
  }
  mutating func resumed(_ name: String) { tickets[name].map { admission.resumed($0) } }

  /// After how many seconds a step may become due by time alone.
  func wake(after seconds: Double) -> Double? {
    admission.nextWake(after: Self.start + .seconds(seconds)).map { ($0 - Self.start) / .seconds(1) }
  }

  /// The download that starts next, if any; one to be put off comes in brackets.
  mutating func next(at seconds: Double = 0) -> String? {
    switch admission.nextStep(at: Self.start + .seconds(seconds)) {
    case .start(let name): name
    case .preempt(let name): "[\(name)]"
    case nil: nil
    default: nil
    }
  }

  mutating func admitNext() -> String? { next() }

  /// All that start now; those to be put off in brackets.
  mutating func admitAll(at seconds: Double = 0) -> [String] {
    var steps: [String] = []
    while let step = next(at: seconds) { steps.append(step) }
    return steps
  }
}
