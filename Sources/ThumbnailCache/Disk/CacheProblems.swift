import Synchronization

/// Passes errors of background work to listeners.
final class CacheProblems: Sendable {
  typealias Listener = @Sendable (DiskCacheError) -> Void

  private struct State {
    var listeners: [Listener] = []
    /// Reported while there was no listener.
    var unheard: [DiskCacheError] = []
  }

  private let state = Mutex(State())

  /// Calls all listeners, on the calling thread.
  func report(_ problem: DiskCacheError) {
    let listeners = state.withLock { state in
      if state.listeners.isEmpty, state.unheard.count < 16 { state.unheard.append(problem) }
      return state.listeners
    }
    for listener in listeners { listener(problem) }
  }

  /// Adds a listener. The first one is called at once with everything reported before.
  func listen(_ listener: @escaping Listener) {
    let unheard = state.withLock { state in
      state.listeners.append(listener)
      defer { state.unheard = [] }
      return state.unheard
    }
    for problem in unheard { listener(problem) }
  }
}
