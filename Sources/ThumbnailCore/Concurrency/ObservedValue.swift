import Synchronization

/// The current priority of one job, followed by every queue that the job waits in.
///
/// A queue registers an observer while the job waits there and moves the job when the priority changes.
package typealias PriorityControl = ObservedValue<Priority>

/// A value that can be set and observed from any thread.
package final class ObservedValue<Value: Equatable & Sendable>: Sendable {
  private struct State {
    var current: Value
    var observers: [Int: @Sendable (Value) -> Void] = [:]
    var nextObserver = 0
  }

  private let state: Mutex<State>

  package init(_ value: Value) {
    state = Mutex(State(current: value))
  }

  /// The current value.
  package var current: Value { state.withLock { $0.current } }

  /// Changes the value and calls the observers on the calling thread, without holding the lock. With concurrent
  /// changes, the last value that the observers see is the final one.
  package func set(_ value: Value) {
    var told: Value?
    state.withLock {
      if $0.current == value { told = value }
      $0.current = value
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
  /// The first call, made before this returns, reports a change that came between reading `current` and this.
  package func observe(_ observer: @escaping @Sendable (Value) -> Void) -> Int {
    let (number, current) = state.withLock { state in
      state.nextObserver += 1
      state.observers[state.nextObserver] = observer
      return (state.nextObserver, state.current)
    }
    observer(current)
    return number
  }

  /// Ends an observation. Calling it twice does no harm.
  package func stopObserving(_ number: Int) {
    state.withLock { _ = $0.observers.removeValue(forKey: number) }
  }
}
