import HTTPSemantics

/// The requests that wait for thumbnails, and those that the pipeline works on. No client and no origin has more than
/// its part of either, and one that has used up its part does not delay the others.
///
/// A pure value; its owner synchronises it and carries out the returned actions.
struct RequestQueue {
  /// The client of a request, and the host of its image; nil for a file.
  struct Party: Hashable, Sendable {
    let client: String
    let origin: String?

    fileprivate var pair: String? { origin.map { "\(client) \($0)" } }
  }

  typealias Ticket = Int

  /// The party whose part of the queue is used up.
  enum Refusal: Error, Equatable {
    case client, origin, all
  }

  /// The shares of clients and origins in one resource.
  private struct Parts {
    var clients: Shares
    var origins: Shares
    /// A client's share for one origin, so that a silent origin does not delay its other requests.
    var pairs: Shares

    /// A client has at most a quarter, an origin half, and an origin half of a client's part.
    init(_ capacity: Int, least: Int) {
      let part = max(least, capacity / 4)
      clients = Shares(capacity: capacity, most: part)
      origins = Shares(capacity: .max, most: max(least, capacity / 2))
      pairs = Shares(capacity: .max, most: max(1, part / 2))
    }

    func refusal(for party: Party) -> Refusal? {
      switch clients.refusal(of: 1, for: party.client) {
      case .holder: .client
      case .all: .all
      case nil: origins.refusal(of: 1, for: party.origin) == nil ? nil : .origin
      }
    }

    func mayBegin(_ party: Party) -> Bool {
      refusal(for: party) == nil && pairs.refusal(of: 1, for: party.pair) == nil
    }

    mutating func take(for party: Party) {
      _ = clients.take(for: party.client)
      _ = origins.take(for: party.origin)
      _ = pairs.take(for: party.pair)
    }

    mutating func giveBack(of party: Party) {
      clients.giveBack(of: party.client)
      origins.giveBack(of: party.origin)
      pairs.giveBack(of: party.pair)
    }
  }

  private var queue: Parts
  private var making: Parts
  /// The tickets of each, in order.
  private var waiting: [Party: [Ticket]] = [:]
  private var begun: [Ticket: Party] = [:]
  private var nextTicket = 0

  /// - Parameters:
  ///   - limit: The most requests, including those in progress.
  ///   - making: The most that are worked on.
  init(limit: Int, making: Int) {
    queue = Parts(limit, least: 1)
    self.making = Parts(making, least: 4)
  }

  /// The requests that wait or are worked on.
  var count: Int { queue.clients.used }

  /// Admits a request to the queue.
  mutating func enter(_ party: Party) throws(Refusal) -> Ticket {
    if let refusal = queue.refusal(for: party) { throw refusal }
    queue.take(for: party)
    nextTicket += 1
    waiting[party, default: []].append(nextTicket)
    return nextTicket
  }

  /// Begins the requests that may begin, the longest waiting first.
  mutating func begin() -> [Ticket] {
    var tickets: [Ticket] = []
    while let (party, first) = next {
      remove(first, party)
      making.take(for: party)
      begun[first] = party
      tickets.append(first)
    }
    return tickets
  }

  /// The longest waiting request of those that may begin.
  private var next: (Party, Ticket)? {
    // Checked first, because many may wait.
    if making.clients.refusal(of: 1, for: nil) != nil { return nil }
    return waiting.lazy.filter { making.mayBegin($0.key) }.map { ($0.key, $0.value[0]) }.min { $0.1 < $1.1 }
  }

  /// Removes a request that is done, or has left.
  mutating func leave(_ ticket: Ticket, _ party: Party) {
    if begun.removeValue(forKey: ticket) != nil {
      making.giveBack(of: party)
      queue.giveBack(of: party)
    } else if remove(ticket, party) {
      queue.giveBack(of: party)
    }
  }

  /// Removes a request that waits. Returns whether it does.
  @discardableResult private mutating func remove(_ ticket: Ticket, _ party: Party) -> Bool {
    guard let index = waiting[party]?.firstIndex(of: ticket) else { return false }
    waiting[party]?.remove(at: index)
    if waiting[party]?.isEmpty == true { waiting[party] = nil }
    return true
  }
}
