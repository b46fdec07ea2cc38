import Synchronization
import ThumbnailCore

/// Broadcasts events to all subscribers. Costs one atomic load while there are none.
final class EventHub<Event: Sendable>: Sendable {
  private struct State {
    var lastNumber = 0
    var streams: [Int: AsyncStream<Event>.Continuation] = [:]
    var isFinished = false
  }

  private let listenerCount = Atomic(0)
  private let listeners = Mutex(State())

  /// The number of subscribers now.
  var subscriberCount: Int { listenerCount.load(ordering: .relaxed) }

  /// A new stream of all events from now on; it ends at once if the hub has finished. A subscriber that falls behind by
  /// more than `limit` events loses the oldest.
  func subscribe(bufferingNewest limit: Int) -> AsyncStream<Event> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Event.self, bufferingPolicy: .bufferingNewest(limit))
    let number = listeners.withLock { state -> Int? in
      guard !state.isFinished else { return nil }
      state.lastNumber += 1
      state.streams[state.lastNumber] = continuation
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

  /// Sends an event to all subscribers; it is only created if there are any.
  func send(_ event: @autoclosure () -> Event) {
    guard listenerCount.load(ordering: .relaxed) > 0 else { return }
    let event = event()
    for continuation in listeners.withLock({ Array($0.streams.values) }) { continuation.yield(event) }
  }

  /// Ends all streams.
  func finish() {
    let streams = listeners.withLock { state in
      state.isFinished = true
      return Array(state.streams.values)
    }
    for continuation in streams { continuation.finish() }
  }

  private func remove(_ number: Int) {
    if listeners.withLock({ $0.streams.removeValue(forKey: number) }) != nil {
      listenerCount.subtract(1, ordering: .relaxed)
    }
  }
}
