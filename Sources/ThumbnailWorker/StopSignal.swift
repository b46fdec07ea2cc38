import Synchronization

/// Ends a worker, once: the first of several callers counts.
final class StopSignal: Sendable {
  /// Why it ends.
  enum Reason: Sendable {
    /// The worker was stopped.
    case told
    /// Too many lines have failed.
    case failures
    /// The reader of the responses has gone.
    case noReader
  }

  private struct State {
    var reason: Reason?
    var listener: (@Sendable (Reason) -> Void)?
    var whenOverdue: (limit: Duration, body: @Sendable () -> Void)?
  }

  private let state = Mutex(State())
  private let called = Atomic(false)

  /// Whether the worker has to end.
  var isCalled: Bool { called.load(ordering: .acquiring) }

  /// Ends the worker.
  func call(_ reason: Reason) {
    let (listener, overdue) = state.withLock { state -> ((@Sendable (Reason) -> Void)?, Overdue?) in
      guard state.reason == nil else { return (nil, nil) }
      state.reason = reason
      return (state.listener, state.whenOverdue)
    }
    called.store(true, ordering: .releasing)
    listener?(reason)
    if let overdue { Self.schedule(overdue) }
  }

  private typealias Overdue = (limit: Duration, body: @Sendable () -> Void)

  /// Calls `listener` when the worker has to end: at once if it already has to.
  func onCall(_ listener: @escaping @Sendable (Reason) -> Void) {
    let reason = state.withLock { state in
      state.listener = listener
      return state.reason
    }
    if let reason { listener(reason) }
  }

  /// Drops the listeners, which may hold the worker.
  func finish() {
    state.withLock { ($0.listener, $0.whenOverdue) = (nil, nil) }
  }

  /// Calls `body` this long after the signal, or this long from now if the signal came before.
  func onOverdue(after limit: Duration, _ body: @escaping @Sendable () -> Void) {
    let isCalled = state.withLock { state in
      state.whenOverdue = (limit, body)
      return state.reason != nil
    }
    if isCalled { Self.schedule((limit, body)) }
  }

  private static func schedule(_ overdue: Overdue) {
    Task {
      try? await Task.sleep(for: overdue.limit)
      overdue.body()
    }
  }
}
