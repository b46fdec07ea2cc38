import Synchronization
import ThumbnailCore

/// Broadcasts events to all subscribers. Costs one atomic load while there are none.
final class EventHub<Event: Sendable>: Sendable {
  private struct Subscriber {
    let stream: AsyncStream<Event>.Continuation
    let wants: @Sendable (Event) -> Bool
  }

  private struct State {
    var lastNumber = 0
    var subscribers: [Int: Subscriber] = [:]
    var isFinished = false
  }

  private let listenerCount = Atomic(0)
  private let listeners = Mutex(State())

  /// The number of subscribers now.
  var subscriberCount: Int { listenerCount.load(ordering: .relaxed) }

  /// A new stream of the wanted events from now on; it ends at once if the hub has finished. A subscriber that falls
  /// behind by more than `limit` of them loses the oldest.
  func subscribe(
    bufferingNewest limit: Int, where wants: @escaping @Sendable (Event) -> Bool = { _ in true }
  ) -> AsyncStream<Event> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Event.self, bufferingPolicy: .bufferingNewest(limit))
    let number = listeners.withLock { state -> Int? in
      guard !state.isFinished else { return nil }
      state.lastNumber += 1
      state.subscribers[state.lastNumber] = Subscriber(stream: continuation, wants: wants)
      return state.lastNumber
    }
    guard let number else {
      continuation.finish()
      return stream
    }
    listenerCount.add(1, ordering: .relaxed)
    continuation.onTermination = { [weak self] _ in self?.remove(number) }
    return stream
  }

  /// Sends an event to all subscribers that want it; it is only created if there are any subscribers.
  func send(_ event: @autoclosure () -> Event) {
    guard listenerCount.load(ordering: .relaxed) > 0 else { return }
    let event = event()
    for subscriber in listeners.withLock({ Array($0.subscribers.values) }) where subscriber.wants(event) {
      subscriber.stream.yield(event)
    }
  }

  /// Ends all streams.
  func finish() {
    let subscribers = listeners.withLock { state in
      state.isFinished = true
      return Array(state.subscribers.values)
    }
    for subscriber in subscribers { subscriber.stream.finish() }
  }

  private func remove(_ number: Int) {
    if listeners.withLock({ $0.subscribers.removeValue(forKey: number) }) != nil {
      listenerCount.subtract(1, ordering: .relaxed)
    }
  }
}
