import Synchronization

/// A value and its changes, for any number of listeners, each of which may miss all but the newest.
final class LatestValue<Value: Sendable>: Sendable {
  private struct State {
    var value: Value
    var listeners: [Int: AsyncStream<Value>.Continuation] = [:]
    var next = 0
    var isFinished = false
  }

  private let state: Mutex<State>

  init(_ value: Value) { state = Mutex(State(value: value)) }

  var current: Value { state.withLock { $0.value } }

  /// The current value, and all that follow.
  func subscribe() -> AsyncStream<Value> {
    let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(1))
    state.withLock { state in
      continuation.yield(state.value)
      guard !state.isFinished else { return continuation.finish() }
      let number = state.next
      state.next += 1
      state.listeners[number] = continuation
      continuation.onTermination = { [weak self] _ in self?.remove(number) }
    }
    return stream
  }

  func send(_ value: Value) {
    state.withLock { state in
      state.value = value
      for listener in state.listeners.values { listener.yield(value) }
    }
  }

  func finish() {
    let listeners = state.withLock { state in
      state.isFinished = true
      defer { state.listeners = [:] }
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.finish() }
  }

  private func remove(_ number: Int) {
    state.withLock { state in _ = state.listeners.removeValue(forKey: number) }
  }
}
