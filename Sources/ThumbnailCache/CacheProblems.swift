import Synchronization

/// Carries what goes wrong behind a caller's back to whoever listens.
final class CacheProblems: Sendable {
  typealias Listener = @Sendable (DiskCacheError) -> Void

  private struct State {
    var listeners: [Listener] = []
    /// What was reported while nobody listened.
    var unheard: [DiskCacheError] = []
  }

  private let state = Mutex(State())

  /// Tells all listeners, on the calling thread.
  func report(_ problem: DiskCacheError) {
    let listeners = state.withLock { state in
      if state.listeners.isEmpty, state.unheard.count < 16 { state.unheard.append(problem) }
      return state.listeners
    }
    for listener in listeners { listener(problem) }
  }

  /// Adds a listener. The first one hears at once what was reported before it came.
  func listen(_ listener: @escaping Listener) {
    let unheard = state.withLock { state in
      state.listeners.append(listener)
      defer { state.unheard = [] }
      return state.unheard
    }
    for problem in unheard { listener(problem) }
  }
}
