import Synchronization

/// A semaphore whose holders reserve several permits at once, all or none: bytes of memory, or open files.
///
/// Waiters are served first come, first served within their priority; a large request at the head of the queue holds
/// back the later ones, so that it does not starve.
///
/// In addition, up to half of the permits can be lent at once, to holders that may themselves wait here. To prevent a
/// deadlock, a request may overtake those that do not fit while only lent permits are out; if none fits, a waiter that
/// holds lent permits is refused.
package final class WeightedSemaphore: Sendable {
  /// Why a reservation failed.
  package enum Failure: Error, Equatable {
    case cancelled
    /// The request is larger than the capacity.
    case exceedsCapacity(asked: Int, capacity: Int)
  }

  /// A granted number of permits. Returned when it is released or its last reference is dropped.
  package final class Reservation: Sendable {
    /// The number of permits.
    package let permits: Int
    private let semaphore: WeightedSemaphore
    private let isLent: Bool
    private let released = Atomic(false)

    fileprivate init(permits: Int, semaphore: WeightedSemaphore, isLent: Bool = false) {
      self.permits = permits
      self.semaphore = semaphore
      self.isLent = isLent
    }

    /// Returns the permits. Calling it twice does no harm.
    package func release() {
      if !released.exchange(true, ordering: .acquiringAndReleasing) { semaphore.giveBack(permits, isLent: isLent) }
    }

    deinit { release() }
  }

  private struct Waiter {
    let permits: Int
    let holdsLent: Bool
    let promise: Promise<Reservation, Failure>
  }

  private struct State {
    var available: Int
    /// How many of the reserved permits are lent.
    var lent = 0
    var queue = TwoLevelQueue<Waiter>()
  }

  /// The number of permits.
  package let capacity: Int
  private let state: Mutex<State>

  package init(capacity: Int) {
    self.capacity = capacity
    state = Mutex(State(available: capacity))
  }

  /// The permits in use now.
  package var used: Int { state.withLock { capacity - $0.available } }
  /// The number of waiters.
  var waiting: Int { state.withLock { $0.queue.count } }

  /// Reserves without waiting; nil if too few permits are free, or if more than half of all would be lent.
  package func lend(_ permits: Int) -> Reservation? {
    let isLent = state.withLock { state in
      guard permits <= state.available, state.lent + permits <= capacity / 2 else { return false }
      state.available -= permits
      state.lent += permits
      return true
    }
    return isLent ? Reservation(permits: permits, semaphore: self, isLent: true) : nil
  }

  /// Reserves without waiting; nil if too few permits are free or others wait.
  package func reserveNow(_ permits: Int) -> Reservation? {
    let isReserved = state.withLock { state in
      guard permits <= state.available, state.queue.count == 0 else { return false }
      state.available -= permits
      return true
    }
    return isReserved ? Reservation(permits: permits, semaphore: self) : nil
  }

  /// Reserves at once, even permits that are not free. Then all others wait until enough permits have been returned.
  package func overdraw(_ permits: Int) -> Reservation {
    state.withLock { $0.available -= permits }
    return Reservation(permits: permits, semaphore: self)
  }

  /// Waits for `permits` permits. A caller that holds lent ones must say so, and may be refused because of them
  /// (`exceedsCapacity`).
  package func reserve(
    _ permits: Int, holdingLent holdsLent: Bool = false, priority: PriorityControl
  ) async throws(Failure) -> Reservation {
    guard permits <= capacity else { throw .exceedsCapacity(asked: permits, capacity: capacity) }
    if Task.isCancelled { throw .cancelled }
    if let reservation = reserveNow(permits) { return reservation }
    let promise = Promise<Reservation, Failure>()
    let level = priority.current
    let ticket = state.withLock {
      $0.queue.enqueue(Waiter(permits: permits, holdsLent: holdsLent, promise: promise), at: level)
    }
    let observation = priority.observe(since: level) { [weak self] level in
      self?.state.withLock { $0.queue.move(ticket, to: level) }
      self?.admit()
    }
    admit()
    defer { priority.stopObserving(observation) }
    return try await promise.wait { [weak self] in
      guard let waiter = self?.state.withLock({ $0.queue.remove(ticket) }) else { return }
      waiter.promise.resume(with: .failure(.cancelled))
      self?.admit()
    }.get()
  }

  /// Takes all free permits, without waiting. Waiters are served when they are released.
  package func reserveFree() -> Reservation {
    let permits = state.withLock { state in
      // The number of free permits is negative while the semaphore is overdrawn.
      let free = max(0, state.available)
      state.available -= free
      return free
    }
    return Reservation(permits: permits, semaphore: self)
  }

  private func giveBack(_ permits: Int, isLent: Bool) {
    state.withLock { state in
      state.available += permits
      if isLent { state.lent -= permits }
    }
    admit()
  }

  private func admit() {
    while true {
      let next = state.withLock { takeNext(from: &$0) }
      switch next {
      case nil: return
      case .served(let waiter):
        waiter.promise.resume(with: .success(Reservation(permits: waiter.permits, semaphore: self)))
      case .refused(let waiter, let available):
        waiter.promise.resume(with: .failure(.exceedsCapacity(asked: waiter.permits, capacity: available)))
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
    if head.permits <= state.available {
      served = state.queue.dequeue()
    } else if state.available + state.lent == capacity {
      // Only holders of lent permits can return any, and they may be waiting here themselves.
      let available = state.available
      served = state.queue.removeFirst { $0.permits <= available }
      if served == nil {
        return state.queue.removeFirst { $0.holdsLent }.map { .refused($0, available: available) }
      }
    } else {
      return nil
    }
    guard let served else { return nil }
    state.available -= served.permits
    return .served(served)
  }
}
