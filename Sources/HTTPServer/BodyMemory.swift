import Synchronization

/// The memory that the bodies of all requests may take together. A body whose length is known waits for its whole share
/// before any of it is read, in the order of arrival; one whose length is not known grows as long as there is room.
final class BodyMemory: Sendable {
  private struct Waiter {
    let id: Int
    let byteCount: Int
    let grant: @Sendable () -> Void
  }

  private struct State {
    var used = 0
    var waiters: [Waiter] = []
    var nextID = 0
  }

  private let capacity: Int
  private let state = Mutex(State())

  init(capacity: Int) { self.capacity = capacity }

  /// Reserves bytes if they are free and nobody waits for them.
  func reserve(_ byteCount: Int) -> Bool {
    state.withLock { state in
      guard state.waiters.isEmpty, Self.fits(byteCount, state.used, capacity) else { return false }
      state.used += byteCount
      return true
    }
  }

  /// Reserves bytes as soon as they are free, and then calls `grant` on any thread.
  ///
  /// - Returns: What `stopWaiting` takes.
  func wait(for byteCount: Int, grant: @escaping @Sendable () -> Void) -> Int {
    let id = state.withLock { state in
      state.nextID += 1
      state.waiters.append(Waiter(id: state.nextID, byteCount: byteCount, grant: grant))
      return state.nextID
    }
    grantWhatFits()
    return id
  }

  /// Leaves the queue.
  ///
  /// - Returns: False if the bytes were granted already, so that they have to be released.
  func stopWaiting(_ id: Int) -> Bool {
    let hasLeft = state.withLock { state in
      guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return false }
      state.waiters.remove(at: index)
      return true
    }
    if hasLeft { grantWhatFits() }
    return hasLeft
  }

  func release(_ byteCount: Int) {
    guard byteCount > 0 else { return }
    state.withLock { $0.used -= byteCount }
    grantWhatFits()
  }

  private func grantWhatFits() {
    let granted = state.withLock { state in
      var granted: [Waiter] = []
      while let first = state.waiters.first, Self.fits(first.byteCount, state.used, capacity) {
        state.used += first.byteCount
        granted.append(state.waiters.removeFirst())
      }
      return granted
    }
    for waiter in granted { waiter.grant() }
  }

  /// A body that is larger than all of the memory is received alone.
  private static func fits(_ byteCount: Int, _ used: Int, _ capacity: Int) -> Bool {
    used == 0 || used + byteCount <= capacity
  }
}
