import Synchronization

/// Hands out shares of a fixed number of bytes, each in one piece or not at all.
///
/// Whoever asks first is served first within its priority; a large request at the head of the line holds the later ones
/// back rather than starve.
final class ByteLimiter: Sendable {
  /// Why no share was given.
  enum Failure: Error, Equatable {
    case cancelled
    /// More was asked than there is in all.
    case exceedsCapacity(asked: Int, capacity: Int)
  }

  /// A share in hand. It goes back when it is released or the last reference is dropped.
  final class Reservation: Sendable {
    /// The size of the share in bytes.
    let bytes: Int
    private let limiter: ByteLimiter
    private let released = Atomic(false)

    fileprivate init(bytes: Int, limiter: ByteLimiter) {
      self.bytes = bytes
      self.limiter = limiter
    }

    /// Gives the share back. Calling it twice does no harm.
    func release() {
      if !released.exchange(true, ordering: .acquiringAndReleasing) { limiter.giveBack(bytes) }
    }

    deinit { release() }
  }

  private struct Waiter {
    let bytes: Int
    let shot: OneShot<Reservation, Failure>
  }

  private struct State {
    var available: Int
    var queue = TwoLevelQueue<Waiter>()
  }

  /// The size of the whole in bytes.
  let capacity: Int
  private let state: Mutex<State>

  init(capacity: Int) {
    self.capacity = capacity
    state = Mutex(State(available: capacity))
  }

  /// The bytes in use now.
  var used: Int { state.withLock { capacity - $0.available } }
  /// The number of requests that wait.
  var waiting: Int { state.withLock { $0.queue.count } }

  /// Waits for a share of `bytes` bytes.
  func reserve(_ bytes: Int, priority: PriorityControl) async throws(Failure) -> Reservation {
    guard bytes <= capacity else { throw .exceedsCapacity(asked: bytes, capacity: capacity) }
    if Task.isCancelled { throw .cancelled }
    let shot = OneShot<Reservation, Failure>()
    let ticket = state.withLock {
      $0.queue.enqueue(Waiter(bytes: bytes, shot: shot), at: priority.current)
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
  func reserveFree() -> Reservation {
    let bytes = state.withLock { state in
      defer { state.available = 0 }
      return state.available
    }
    return Reservation(bytes: bytes, limiter: self)
  }

  private func giveBack(_ bytes: Int) {
    state.withLock { $0.available += bytes }
    admit()
  }

  private func admit() {
    while true {
      let next = state.withLock { state -> Waiter? in
        guard let head = state.queue.peek(), head.bytes <= state.available else { return nil }
        state.available -= head.bytes
        return state.queue.dequeue()
      }
      guard let next else { return }
      next.shot.resume(with: .success(Reservation(bytes: next.bytes, limiter: self)))
    }
  }
}
