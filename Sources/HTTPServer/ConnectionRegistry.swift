import HTTPSemantics
import NIOCore
import Synchronization

/// The open connections of a server and the responses that are being made for them: limits the number of connections,
/// and ends them.
final class ConnectionRegistry: Sendable {
  /// Sent through a connection's pipeline: close as soon as no response is being made.
  struct EndWhenIdle: Sendable {}

  private struct State {
    var table: ConnectionTable<ObjectIdentifier>
    var channels: [ObjectIdentifier: any Channel] = [:]
    /// The tasks that make or send a response. One may outlive its connection.
    var responses = 0
    var isEnding = false
    var waiters: [CheckedContinuation<Void, Never>] = []

    var isEmpty: Bool { channels.isEmpty && responses == 0 }
  }

  private let state: Mutex<State>

  /// - Parameters:
  ///   - limit: The most connections.
  ///   - most: The connections of one client.
  init(limit: Int, most: Int) { state = Mutex(State(table: ConnectionTable(limit: limit, most: most))) }

  var count: Int { state.withLock { $0.channels.count } }

  /// Admits a connection, which is removed when it closes. If all are used, the longest idle one is closed.
  ///
  /// - Parameter client: Nil for a proxy, which may have any number.
  /// - Throws: The party whose part is used up.
  func insert(_ channel: any Channel, client: String?) throws(Shares.Refusal) {
    let id = ObjectIdentifier(channel)
    let idle = try state.withLock { state throws(Shares.Refusal) in
      if state.isEnding { throw .all }
      let idle = try state.table.insert(id, client: client)
      state.channels[id] = channel
      return idle.flatMap { state.channels[$0] }
    }
    idle?.pipeline.fireUserInboundEventTriggered(EndWhenIdle())
    channel.closeFuture.whenComplete { [self] _ in
      leave {
        $0.channels[id] = nil
        $0.table.remove(id)
      }
    }
  }

  /// Notes that a connection has become idle, or that its request is responded to.
  func setIdle(_ isIdle: Bool, _ channel: any Channel) {
    state.withLock { $0.table.setIdle(isIdle, ObjectIdentifier(channel)) }
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
      // Only when a task waits: otherwise its end could be missed.
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
