import Synchronization

/// The current priority of one job, followed by every queue that the job waits in.
///
/// A queue registers an observer while the job waits there and moves the job when the priority changes.
package typealias PriorityControl = ObservedValue<Priority>

/// A value that can be set and observed from any thread.
package final class ObservedValue<Value: Equatable & Sendable>: Sendable {
  private struct State {
    var current: Value
    /// The observers with the numbers of their observations. An array, because there is usually none or one.
    var observers: [(number: Int, call: @Sendable (Value) -> Void)] = []
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
      let (current, observers) = state.withLock { ($0.current, $0.observers) }
      if current == told { return }
      for observer in observers { observer.call(current) }
      told = current
    }
  }

  /// Calls `observer` now and at every change, until `stopObserving` is called with the number returned.
  package func observe(_ observer: @escaping @Sendable (Value) -> Void) -> Int {
    let (number, current) = add(observer)
    observer(current)
    return number
  }

  /// The same, but calls `observer` now only if the value is no longer the one that the caller has read.
  package func observe(since known: Value, _ observer: @escaping @Sendable (Value) -> Void) -> Int {
    let (number, current) = add(observer)
    if current != known { observer(current) }
    return number
  }

  private func add(_ observer: @escaping @Sendable (Value) -> Void) -> (number: Int, current: Value) {
    state.withLock { state in
      state.nextObserver += 1
      state.observers.append((state.nextObserver, observer))
      return (state.nextObserver, state.current)
    }
  }

  /// Ends an observation. Calling it twice does no harm.
  package func stopObserving(_ number: Int) {
    state.withLock { state in
      if let index = state.observers.firstIndex(where: { $0.number == number }) { state.observers.remove(at: index) }
    }
  }
}
