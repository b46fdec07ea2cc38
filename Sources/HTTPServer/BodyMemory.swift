import HTTPSemantics
import Foundation
import Synchronization

/// Limits the memory of the bodies of all requests and responses, and of those of one client.
///
/// The body of a request whose length is known waits for its whole share before any of it is read, in the order of
/// arrival; one of unknown length grows as long as there is room. The body of a response counts once for all
/// connections that send it.
final class BodyMemory: Sendable {
  fileprivate struct Waiter {
    let id: Int
    let byteCount: Int
    let client: String
    let grant: @Sendable () -> Void
  }

  fileprivate struct State {
    var shares: Shares
    var waiters: [Waiter] = []
    var nextID = 0
    /// The connections that send a body, by the place of its bytes and the client.
    var senders: [UnsafeRawPointer?: [String: Int]] = [:]

    /// The bytes of one more connection of a client that sends a body: the part on its way, and the body itself if no
    /// other connection sends it.
    func bytes(of body: Data, _ client: String) -> (own: Int, shared: Int) {
      let part = min(body.count, OutgoingBody.partLength)
      let senders = senders[body.place]
      return (part + (senders?[client] == nil ? body.count : 0), part + (senders == nil ? body.count : 0))
    }
  }

  /// Shorter bodies of responses, such as errors, are not counted.
  private static let leastCounted = 1024

  private let state: Mutex<State>

  /// - Parameters:
  ///   - capacity: Bytes.
  ///   - most: The bytes of one client.
  init(capacity: Int, most: Int) { state = Mutex(State(shares: Shares(capacity: capacity, most: most))) }

  /// The bytes that are in use.
  var used: Int { state.withLock { $0.shares.used } }
  /// The requests that wait for memory.
  var waiting: Int { state.withLock { $0.waiters.count } }

  /// Reserves bytes if they are free and no connection waits for them.
  ///
  /// - Parameter own: The bytes that the body has already: a growing body has the limits of an announced one.
  /// - Returns: The party whose part is used up; nil if they are reserved.
  func reserve(_ byteCount: Int, beyond own: Int, for client: String) -> Shares.Refusal? {
    state.withLock { state in
      // A client that has used up its own part waits for that, and delays no other client.
      let isWaitedFor = state.waiters.contains { state.shares.refusal(of: $0.byteCount, for: $0.client) != .holder }
      return isWaitedFor ? .all : state.shares.take(byteCount, beyond: own, for: client)
    }
  }

  /// Reserves bytes as soon as they are free, and then calls `grant` on any thread.
  ///
  /// - Returns: The argument of `stopWaiting`.
  func wait(for byteCount: Int, of client: String, grant: @escaping @Sendable () -> Void) -> Int {
    let id = state.withLock { state in
      state.nextID += 1
      state.waiters.append(Waiter(id: state.nextID, byteCount: byteCount, client: client, grant: grant))
      return state.nextID
    }
    grantWhatFits()
    return id
  }

  /// Leaves the queue.
  ///
  /// - Returns: False if the bytes were granted already, so that they have to be released.
  func stopWaiting(_ id: Int) -> Bool {
    let hasLeft = state.withLock { state in
      guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return false }
      state.waiters.remove(at: index)
      return true
    }
    if hasLeft { grantWhatFits() }
    return hasLeft
  }

  func release(_ byteCount: Int, of client: String) {
    guard byteCount > 0 else { return }
    state.withLock { $0.shares.giveBack(byteCount, of: client) }
    grantWhatFits()
  }

  /// Counts a connection that sends a body. It does not wait, as requests wait for memory that it has.
  ///
  /// - Returns: The party whose part is used up; nil if it may be sent.
  func beginSending(_ body: Data, to client: String) -> Shares.Refusal? {
    guard body.count >= Self.leastCounted else { return nil }
    return state.withLock { state in
      let (own, shared) = state.bytes(of: body, client)
      if let refusal = state.shares.take(own, ofAll: shared, for: client) { return refusal }
      state.senders[body.place, default: [:]][client, default: 0] += 1
      return nil
    }
  }

  /// Counts it no more.
  func endSending(_ body: Data, to client: String) {
    guard body.count >= Self.leastCounted else { return }
    state.withLock { state in
      let count = state.senders[body.place]?[client] ?? 0
      state.senders[body.place]?[client] = count > 1 ? count - 1 : nil
      if state.senders[body.place]?.isEmpty == true { state.senders[body.place] = nil }
      let (own, shared) = state.bytes(of: body, client)
      state.shares.giveBack(own, ofAll: shared, of: client)
    }
    grantWhatFits()
  }

  private func grantWhatFits() {
    let granted = state.withLock { state in
      var granted: [Waiter] = []
      var index = 0
      while index < state.waiters.count {
        let waiter = state.waiters[index]
        switch state.shares.take(waiter.byteCount, for: waiter.client) {
        case nil: granted.append(state.waiters.remove(at: index))
        case .holder: index += 1
        case .all: return granted
        }
      }
      return granted
    }
    for waiter in granted { waiter.grant() }
  }
}

extension Data {
  /// The address of its bytes, which identifies it while it exists.
  fileprivate var place: UnsafeRawPointer? { withUnsafeBytes { $0.baseAddress } }
}
