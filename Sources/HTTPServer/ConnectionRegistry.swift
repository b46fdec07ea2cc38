import NIOCore
import Synchronization

/// The open connections of a server and the responses that are being made for them: limits the number of connections,
/// and ends them.
final class ConnectionRegistry: Sendable {
  /// Sent through a connection's pipeline: close as soon as no response is being made.
  struct EndWhenIdle: Sendable {}

  private struct State {
    var channels: [ObjectIdentifier: any Channel] = [:]
    /// The tasks that make or send a response. One may outlive its connection.
    var responses = 0
    var isEnding = false
    var waiters: [CheckedContinuation<Void, Never>] = []

    var isEmpty: Bool { channels.isEmpty && responses == 0 }
  }

  private let limit: Int
  private let state = Mutex(State())

  init(limit: Int) { self.limit = limit }

  var count: Int { state.withLock { $0.channels.count } }

  /// Whether there is room for the connection. It leaves by itself when it is closed.
  func insert(_ channel: any Channel) -> Bool {
    let id = ObjectIdentifier(channel)
    let isAdmitted = state.withLock { state in
      guard !state.isEnding, state.channels.count < limit else { return false }
      state.channels[id] = channel
      return true
    }
    if isAdmitted { channel.closeFuture.whenComplete { [self] _ in leave { $0.channels[id] = nil } } }
    return isAdmitted
  }

  /// Makes or sends a response in a task of its own.
  func respond(_ operation: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    state.withLock { $0.responses += 1 }
    return Task {
      await operation()
      leave { $0.responses -= 1 }
    }
  }

  /// Admits no more, and has each of them closed once it is idle.
  func endWhenIdle() {
    let channels = state.withLock { state in
      state.isEnding = true
      return Array(state.channels.values)
    }
    for channel in channels { channel.pipeline.fireUserInboundEventTriggered(EndWhenIdle()) }
  }

  func closeAll() {
    for channel in state.withLock({ Array($0.channels.values) }) { channel.close(promise: nil) }
  }

  /// Returns when the last connection is closed and the last response has ended, or after that time.
  func waitUntilEmpty(for time: Duration) async {
    var timer: Task<Void, Never>?
    await withCheckedContinuation { continuation in
      let isEmpty = state.withLock { state in
        if !state.isEmpty { state.waiters.append(continuation) }
        return state.isEmpty
      }
      if isEmpty { return continuation.resume() }
      // Not before somebody waits: else its end could be missed.
      timer = Task {
        try? await Task.sleep(for: time)
        resumeWaiters()
      }
    }
    timer?.cancel()
  }

  private func leave(_ change: (inout State) -> Void) {
    let isEmpty = state.withLock { state in
      change(&state)
      return state.isEmpty
    }
    if isEmpty { resumeWaiters() }
  }

  private func resumeWaiters() {
    let waiters = state.withLock { state in
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }
}
