import Synchronization

/// Broadcasts the newest snapshot. A slow consumer misses those in between.
final class SnapshotHub: Sendable {
  private struct State {
    var latest: GallerySnapshot
    var listeners: [Int: AsyncStream<GallerySnapshot>.Continuation] = [:]
    var lastListener = 0
    var isFinished = false
  }

  private let state: Mutex<State>

  init(_ first: GallerySnapshot) { state = Mutex(State(latest: first)) }

  /// The latest snapshot.
  var latest: GallerySnapshot { state.withLock { $0.latest } }

  /// A stream that begins with the latest snapshot.
  func subscribe() -> AsyncStream<GallerySnapshot> {
    let (stream, continuation) = AsyncStream.makeStream(of: GallerySnapshot.self, bufferingPolicy: .bufferingNewest(1))
    let (number, isFinished) = state.withLock { state in
      state.lastListener += 1
      if !state.isFinished { state.listeners[state.lastListener] = continuation }
      // Under the lock, so that a newer one cannot overtake it.
      continuation.yield(state.latest)
      return (state.lastListener, state.isFinished)
    }
    if isFinished { continuation.finish() }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { $0.listeners[number] = nil }
    }
    return stream
  }

  /// Publishes a snapshot.
  func send(_ snapshot: GallerySnapshot) {
    state.withLock { state in
      state.latest = snapshot
      for listener in state.listeners.values { listener.yield(snapshot) }
    }
  }

  /// Ends all streams.
  func finish() {
    let listeners = state.withLock { state in
      state.isFinished = true
      defer { state.listeners = [:] }
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.finish() }
  }
}
