import Synchronization
import ThumbnailCore

/// Whether a download waits for its server.
package enum ServerSilence: Sendable {
  /// It responds, as far as is known.
  case responding
  /// Its transfer receives nothing.
  case silent
  /// The download waits for its host to work again, or has failed or fallen silent and is retried after the others.
  case deferred
}

/// Reports that one download waits for its server, from the first silence or failure until something arrives or the
/// download ends, including the wait for a retry.
final class SilenceReport: Sendable {
  private let hosts: SilentHosts
  private let signal: ObservedValue<ServerSilence>?
  private struct State {
    /// The host that it is counted under as silent.
    var host: String?
    var isReported = false
  }

  private let state = Mutex(State())

  /// - Parameter signal: Follows the download's state.
  init(hosts: SilentHosts, signal: ObservedValue<ServerSilence>?) {
    (self.hosts, self.signal) = (hosts, signal)
  }

  deinit { resumed() }

  /// The host has fallen silent.
  func fellSilent(at name: String) {
    let (before, isNew) = state.withLock { state in
      defer { state = State(host: name, isReported: true) }
      return (state.host, !state.isReported)
    }
    hosts.move(from: before, to: name)
    if isNew { signal?.set(.silent) }
  }

  /// The download waits for its host to work again, or for all others.
  func deferred() {
    state.withLock { $0.isReported = true }
    signal?.set(.deferred)
  }

  /// Something arrived, or the download has ended.
  func resumed() {
    let before = state.withLock { state in
      defer { state = State() }
      return state
    }
    guard before.isReported else { return }
    if let host = before.host { hosts.move(from: host, to: nil) }
    signal?.set(.responding)
  }
}

/// The number of downloads that wait for silent servers, by host.
final class SilentHosts: Sendable {
  private let counts = Mutex<[String: Int]>([:])

  /// The current counts, without zeros.
  var current: [String: Int] { counts.withLock { $0 } }

  fileprivate func move(from old: String?, to new: String?) {
    counts.withLock { counts in
      if let old { counts[old] = counts[old].flatMap { $0 > 1 ? $0 - 1 : nil } }
      if let new { counts[new, default: 0] += 1 }
    }
  }
}
