import Synchronization

/// A semaphore that counts bytes. Each reservation is granted whole or not at all.
///
/// Waiters are served first come, first served within their priority; a large request at the head of the queue holds
/// back the later ones, so that it does not starve.
///
/// In addition, up to half of the bytes can be lent at once, to holders that may themselves wait here. To prevent a
/// deadlock, a request may overtake those that do not fit while only lent bytes are out; if none fits, a waiter that
/// holds lent bytes is refused.
package final class ByteSemaphore: Sendable {
  /// Why a reservation failed.
  package enum Failure: Error, Equatable {
    case cancelled
    /// The request is larger than the capacity.
    case exceedsCapacity(asked: Int, capacity: Int)
  }

  /// A granted number of bytes. Returned when it is released or its last reference is dropped.
  package final class Reservation: Sendable {
    /// The size of the reservation in bytes.
    package let bytes: Int
    private let limiter: ByteSemaphore
    private let isLent: Bool
    private let released = Atomic(false)

    fileprivate init(bytes: Int, limiter: ByteSemaphore, isLent: Bool = false) {
      self.bytes = bytes
      self.limiter = limiter
      self.isLent = isLent
    }

    /// Returns the bytes. Calling it twice does no harm.
    package func release() {
      if !released.exchange(true, ordering: .acquiringAndReleasing) { limiter.giveBack(bytes, isLent: isLent) }
    }

    deinit { release() }
  }

  private struct Waiter {
    let bytes: Int
    let holdsLent: Bool
    let promise: Promise<Reservation, Failure>
  }

  private struct State {
    var available: Int
    /// How many of the reserved bytes are lent.
    var lent = 0
    var queue = TwoLevelQueue<Waiter>()
  }

  /// The total in bytes.
  package let capacity: Int
  private let state: Mutex<State>

  package init(capacity: Int) {
    self.capacity = capacity
    state = Mutex(State(available: capacity))
  }

  /// The bytes in use now.
  package var used: Int { state.withLock { capacity - $0.available } }
  /// The number of waiters.
  var waiting: Int { state.withLock { $0.queue.count } }

  /// Reserves without waiting; nil when too little is free, or when half of the capacity would be exceeded by lent
  /// bytes.
  package func lend(_ bytes: Int) -> Reservation? {
    let isLent = state.withLock { state in
      guard bytes <= state.available, state.lent + bytes <= capacity / 2 else { return false }
      state.available -= bytes
      state.lent += bytes
      return true
    }
    return isLent ? Reservation(bytes: bytes, limiter: self, isLent: true) : nil
  }

  /// Reserves without waiting; nil when too little is free or others wait.
  package func reserveNow(_ bytes: Int) -> Reservation? {
    let isReserved = state.withLock { state in
      guard bytes <= state.available, state.queue.count == 0 else { return false }
      state.available -= bytes
      return true
    }
    return isReserved ? Reservation(bytes: bytes, limiter: self) : nil
  }

  /// Waits for `bytes` bytes. A caller that holds lent bytes must say so, and may be refused because of them
  /// (`exceedsCapacity`).
  package func reserve(
    _ bytes: Int, holdingLent holdsLent: Bool = false, priority: PriorityControl
  ) async throws(Failure) -> Reservation {
    guard bytes <= capacity else { throw .exceedsCapacity(asked: bytes, capacity: capacity) }
    if Task.isCancelled { throw .cancelled }
    let promise = Promise<Reservation, Failure>()
    let ticket = state.withLock {
      $0.queue.enqueue(Waiter(bytes: bytes, holdsLent: holdsLent, promise: promise), at: priority.current)
    }
    let observation = priority.observe { [weak self] level in
      self?.state.withLock { $0.queue.move(ticket, to: level) }
      self?.admit()
    }
    defer { priority.stopObserving(observation) }
    return try await promise.wait { [weak self] in
      guard let waiter = self?.state.withLock({ $0.queue.remove(ticket) }) else { return }
      waiter.promise.resume(with: .failure(.cancelled))
      self?.admit()
    }.get()
  }

  /// Takes all free bytes, without waiting. Waiters are served when they are released.
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
        waiter.promise.resume(with: .success(Reservation(bytes: waiter.bytes, limiter: self)))
      case .refused(let waiter, let available):
        waiter.promise.resume(with: .failure(.exceedsCapacity(asked: waiter.bytes, capacity: available)))
      }
    }
  }

  /// What happens to a waiter.
  private enum Turn {
    case served(Waiter)
    case refused(Waiter, available: Int)
  }

  /// Removes the next waiter from the queue; nil while all must wait.
  private func takeNext(from state: inout State) -> Turn? {
    guard let head = state.queue.peek() else { return nil }
    let served: Waiter?
    if head.bytes <= state.available {
      served = state.queue.dequeue()
    } else if state.available + state.lent == capacity {
      // Only holders of lent bytes can return any, and they may be waiting here themselves.
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
