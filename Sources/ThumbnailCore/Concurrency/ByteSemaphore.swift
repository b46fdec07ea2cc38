import Synchronization

/// Hands out shares of a fixed number of bytes, each in one piece or not at all.
///
/// Whoever asks first is served first within its priority; a large request at the head of the line holds the later ones
/// back rather than starve.
///
/// Besides, up to half of the bytes may be lent at once, to whoever may wait here with them in hand. So that such waiters
/// never block each other for good, a request overtakes when nothing but lent bytes is out and those before it do not
/// fit; and where none fits, a waiter with lent bytes is refused.
package final class ByteSemaphore: Sendable {
  /// Why no share was given.
  package enum Failure: Error, Equatable {
    case cancelled
    /// More was asked than there is in all.
    case exceedsCapacity(asked: Int, capacity: Int)
  }

  /// A share in hand. It goes back when it is released or the last reference is dropped.
  package final class Reservation: Sendable {
    /// The size of the share in bytes.
    package let bytes: Int
    private let limiter: ByteSemaphore
    private let isLent: Bool
    private let released = Atomic(false)

    fileprivate init(bytes: Int, limiter: ByteSemaphore, isLent: Bool = false) {
      self.bytes = bytes
      self.limiter = limiter
      self.isLent = isLent
    }

    /// Gives the share back. Calling it twice does no harm.
    package func release() {
      if !released.exchange(true, ordering: .acquiringAndReleasing) { limiter.giveBack(bytes, isLent: isLent) }
    }

    deinit { release() }
  }

  private struct Waiter {
    let bytes: Int
    let holdsLent: Bool
    let shot: Promise<Reservation, Failure>
  }

  private struct State {
    var available: Int
    /// The part of what is out that is lent.
    var lent = 0
    var queue = TwoLevelQueue<Waiter>()
  }

  /// The size of the whole in bytes.
  package let capacity: Int
  private let state: Mutex<State>

  package init(capacity: Int) {
    self.capacity = capacity
    state = Mutex(State(available: capacity))
  }

  /// The bytes in use now.
  package var used: Int { state.withLock { capacity - $0.available } }
  /// The number of requests that wait.
  var waiting: Int { state.withLock { $0.queue.count } }

  /// A share without waiting; nil when there is none, or when half of the bytes are lent.
  package func lend(_ bytes: Int) -> Reservation? {
    let isLent = state.withLock { state in
      guard bytes <= state.available, state.lent + bytes <= capacity / 2 else { return false }
      state.available -= bytes
      state.lent += bytes
      return true
    }
    return isLent ? Reservation(bytes: bytes, limiter: self, isLent: true) : nil
  }

  /// Waits for a share of `bytes` bytes. Who has lent bytes in hand must say so, and may be refused because of them
  /// (`exceedsCapacity`).
  package func reserve(
    _ bytes: Int, holdingLent holdsLent: Bool = false, priority: PriorityControl
  ) async throws(Failure) -> Reservation {
    guard bytes <= capacity else { throw .exceedsCapacity(asked: bytes, capacity: capacity) }
    if Task.isCancelled { throw .cancelled }
    let shot = Promise<Reservation, Failure>()
    let ticket = state.withLock {
      $0.queue.enqueue(Waiter(bytes: bytes, holdsLent: holdsLent, shot: shot), at: priority.current)
    }
    let observation = priority.observe { [weak self] level in
      self?.state.withLock { $0.queue.move(ticket, to: level) }
      self?.admit()
    }
    defer { priority.stopObserving(observation) }
    return try await shot.wait { [weak self] in
      guard let waiter = self?.state.withLock({ $0.queue.remove(ticket) }) else { return }
      waiter.shot.resume(with: .failure(.cancelled))
      self?.admit()
    }.get()
  }

  /// Takes what is free now, without waiting. Who waits gets it when it is released.
  package func reserveFree() -> Reservation {
    let bytes = state.withLock { state in
      defer { state.available = 0 }
      return state.available
    }
    return Reservation(bytes: bytes, limiter: self)
  }

  private func giveBack(_ bytes: Int, isLent: Bool) {
    state.withLock { state in
      state.available += bytes
      if isLent { state.lent -= bytes }
    }
    admit()
  }

  private func admit() {
    while true {
      let next = state.withLock { takeNext(from: &$0) }
      switch next {
      case nil: return
      case .served(let waiter):
        waiter.shot.resume(with: .success(Reservation(bytes: waiter.bytes, limiter: self)))
      case .refused(let waiter, let available):
        waiter.shot.resume(with: .failure(.exceedsCapacity(asked: waiter.bytes, capacity: available)))
      }
    }
  }

  /// What becomes of a waiter.
  private enum Turn {
    case served(Waiter)
    case refused(Waiter, available: Int)
  }

  /// Takes the next waiter out of the line; nil while all have to wait.
  private func takeNext(from state: inout State) -> Turn? {
    guard let head = state.queue.peek() else { return nil }
    let served: Waiter?
    if head.bytes <= state.available {
      served = state.queue.dequeue()
    } else if state.available + state.lent == capacity {
      // Nothing comes back but from those who hold lent bytes, and they may be waiting here themselves.
      let available = state.available
      served = state.queue.removeFirst { $0.bytes <= available }
      if served == nil {
        return state.queue.removeFirst { $0.holdsLent }.map { .refused($0, available: available) }
      }
    } else {
      return nil
    }
    guard let served else { return nil }
    state.available -= served.bytes
    return .served(served)
  }
}
