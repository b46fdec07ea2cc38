import Synchronization

/// A value and its changes, for any number of listeners. A slow listener misses intermediate values.
package final class LatestValue<Value: Sendable>: Sendable {
  private struct State {
    var current: Value
    var listeners: [Int: AsyncStream<Value>.Continuation] = [:]
    var lastListener = 0
    var isFinished = false
  }

  private let state: Mutex<State>

  /// Begins with a value.
  package init(_ value: Value) { state = Mutex(State(current: value)) }

  /// The newest value.
  package var current: Value { state.withLock { $0.current } }

  /// A stream that begins with the newest value.
  package func subscribe() -> AsyncStream<Value> {
    let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(1))
    state.withLock { state in
      // Under the lock, so that a newer one cannot overtake it.
      continuation.yield(state.current)
      guard !state.isFinished else { return continuation.finish() }
      state.lastListener += 1
      state.listeners[state.lastListener] = continuation
      continuation.onTermination = { [weak self, number = state.lastListener] _ in
        self?.state.withLock { $0.listeners[number] = nil }
      }
    }
    return stream
  }

  /// Publishes a value.
  package func send(_ value: Value) {
    state.withLock { state in
      state.current = value
      for listener in state.listeners.values { listener.yield(value) }
    }
  }

  /// Ends all streams.
  package func finish() {
    let listeners = state.withLock { state in
      state.isFinished = true
      defer { state.listeners = [:] }
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.finish() }
  }
}
