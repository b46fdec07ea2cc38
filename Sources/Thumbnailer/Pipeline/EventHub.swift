import Synchronization
import ThumbnailCore

/// Broadcasts events to all subscribers. Costs one atomic load while there are none.
final class EventHub<Event: Sendable>: Sendable {
  private struct Subscriber {
    let take: @Sendable (Event) -> Void
    let finish: @Sendable () -> Void
  }

  private struct State {
    var lastNumber = 0
    var subscribers: [Int: Subscriber] = [:]
    var isFinished = false
  }

  private let listenerCount = Atomic(0)
  private let listeners = Mutex(State())

  /// A new stream of the wanted events from now on; it ends at once if the hub has finished. A subscriber that falls
  /// behind by more than `limit` of them loses the oldest.
  func subscribe(
    bufferingNewest limit: Int, where wants: @escaping @Sendable (Event) -> Bool = { _ in true }
  ) -> AsyncStream<Event> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Event.self, bufferingPolicy: .bufferingNewest(limit))
    let subscriber = Subscriber(
      take: { if wants($0) { continuation.yield($0) } }, finish: { continuation.finish() })
    let added = listeners.withLock { state -> Int? in
      guard !state.isFinished else { return nil }
      state.lastNumber += 1
      state.subscribers[state.lastNumber] = subscriber
      return state.lastNumber
    }
    guard let number = added else {
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
    for subscriber in listeners.withLock({ Array($0.subscribers.values) }) { subscriber.take(event) }
  }

  /// Ends all streams.
  func finish() {
    let subscribers = listeners.withLock { state in
      state.isFinished = true
      return Array(state.subscribers.values)
    }
    for subscriber in subscribers { subscriber.finish() }
  }

  /// Ends a subscription.
  func remove(_ number: Int) {
    if listeners.withLock({ $0.subscribers.removeValue(forKey: number) }) != nil {
      listenerCount.subtract(1, ordering: .relaxed)
    }
  }
}

/// The reports of the stages: counters and events.
final class PipelineMonitor: Sendable {
  /// The listeners of the events.
  let events = EventHub<PipelineEvent>()
  private let counters = Mutex(PipelineStatistics())

  /// The counters now.
  var statistics: PipelineStatistics { counters.withLock { $0 } }

  /// Adds to a counter.
  func add<Number: AdditiveArithmetic>(
    _ number: Number, to path: any WritableKeyPath<PipelineStatistics, Number> & Sendable
  ) {
    counters.withLock { $0[keyPath: path] += number }
  }

  /// Sends an event about a source image, or about none in particular; it is only created if there are listeners.
  func send(_ source: ImageSource?, _ kind: @autoclosure () -> PipelineEvent.Kind) {
    events.send(PipelineEvent(source: source, kind: kind()))
  }
}
