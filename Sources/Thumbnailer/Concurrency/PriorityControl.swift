import Synchronization

/// The current priority of one job, which every queue that the job waits in follows.
///
/// A queue registers an observer while the job waits there and moves the job when the priority changes.
final class PriorityControl: Sendable {
  private struct State {
    var current: Priority
    var observers: [Int: @Sendable (Priority) -> Void] = [:]
    var nextObserver = 0
  }

  private let state: Mutex<State>

  init(_ priority: Priority) {
    state = Mutex(State(current: priority))
  }

  /// The priority now.
  var current: Priority { state.withLock { $0.current } }

  /// Changes the priority and tells the observers, on the calling thread, without a lock held. Of several changes at
  /// once, what the observers hear last is the priority that stays.
  func set(_ priority: Priority) {
    var told: Priority?
    state.withLock {
      if $0.current == priority { told = priority }
      $0.current = priority
    }
    while true {
      let (current, observers) = state.withLock { ($0.current, Array($0.observers.values)) }
      if current == told { return }
      for observer in observers { observer(current) }
      told = current
    }
  }

  /// Calls `observer` now and at every change, until `stopObserving` is called with the number returned.
  ///
  /// The first call, made before this returns, tells of a change that came between a look at `current` and this.
  func observe(_ observer: @escaping @Sendable (Priority) -> Void) -> Int {
    let (number, current) = state.withLock { state in
      state.nextObserver += 1
      state.observers[state.nextObserver] = observer
      return (state.nextObserver, state.current)
    }
    observer(current)
    return number
  }

  /// Ends an observation. Calling it twice does no harm.
  func stopObserving(_ number: Int) {
    state.withLock { _ = $0.observers.removeValue(forKey: number) }
  }
}
