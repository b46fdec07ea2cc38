import Synchronization

/// The log of the origin's threads, with counters.
final class OriginLog: Sendable {
  private struct State {
    var records: [OriginRecord] = []
    var number = 0
    var running: Set<Int> = []
    var maximumRunning = 0
    /// The open sockets by connection number.
    var sockets: [Int: Int32] = [:]
    var connections = 0
    var isStopped = false
  }

  private let state = Mutex(State())

  var records: [OriginRecord] { state.withLock { $0.records } }
  var running: Int { state.withLock { $0.running.count } }
  var maximumRunning: Int { state.withLock { $0.maximumRunning } }
  var openConnections: Int { state.withLock { $0.sockets.count } }
  var connections: Int { state.withLock { $0.connections } }
  var isStopped: Bool { state.withLock { $0.isStopped } }

  func nextNumber() -> Int {
    state.withLock {
      $0.number += 1
      return $0.number
    }
  }

  /// Logs a request and returns its index.
  func begin(_ request: OriginRequest) -> Int {
    state.withLock {
      $0.records.append(OriginRecord(request: request))
      $0.running.insert($0.records.count - 1)
      $0.maximumRunning = max($0.maximumRunning, $0.running.count)
      return $0.records.count - 1
    }
  }

  /// Logs bytes that are about to be sent. With the last ones the request no longer counts as running: the client may
  /// send its next request before this thread runs again.
  func sent(_ index: Int, _ bytes: Int, isLast: Bool) {
    state.withLock {
      $0.records[index].bodyBytesSent += bytes
      if isLast { $0.running.remove(index) }
    }
  }

  func end(_ index: Int, _ outcome: OriginRecord.Outcome) {
    state.withLock {
      $0.records[index].outcome = outcome
      $0.running.remove(index)
    }
  }

  /// The number of a new connection; nil if the origin was stopped.
  func opened(_ socket: Int32) -> Int? {
    state.withLock {
      guard !$0.isStopped else { return nil }
      $0.connections += 1
      $0.sockets[$0.connections] = socket
      return $0.connections
    }
  }

  /// To be called before the socket is closed, so that `stop` never uses a descriptor that was reused meanwhile.
  func closed(_ connection: Int) {
    state.withLock { _ = $0.sockets.removeValue(forKey: connection) }
  }

  /// Rejects new connections and calls `body` with each open socket. False if it was stopped already.
  func stop(_ body: (Int32) -> Void) -> Bool {
    state.withLock { state in
      defer { state.isStopped = true }
      for socket in state.sockets.values { body(socket) }
      return !state.isStopped
    }
  }
}
