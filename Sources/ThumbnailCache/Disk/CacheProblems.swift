import Synchronization

/// Passes errors of background work to listeners, and keeps the last ones.
final class CacheProblems: Sendable {
  typealias Listener = @Sendable (DiskCacheError) -> Void

  private struct State {
    var listeners: [Listener] = []
    /// Reported while there was no listener.
    var unheard: [DiskCacheError] = []
    var last: DiskCacheError?
    var replacement: DiskCacheError?
  }

  private let state = Mutex(State())

  /// The last reason why a change was not written.
  var last: DiskCacheError? { state.withLock { $0.last } }
  /// Why the file was replaced by an empty one.
  var replacement: DiskCacheError? { state.withLock { $0.replacement } }

  /// Calls all listeners, on the calling thread.
  func report(_ problem: DiskCacheError) {
    let listeners = state.withLock { state in
      if problem.isDamage { state.replacement = problem } else { state.last = problem }
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
