import Synchronization
import ThumbnailCore

/// Whether a download waits for a silent server.
package enum ServerSilence: Sendable {
  /// It responds, as far as is known.
  case responding
  /// Its transfer receives nothing.
  case silent
  /// Its transfer received nothing for so long that it was stopped; it is retried after the others.
  case deferred
}

/// Reports that one download waits for a silent server, from the first silence until something arrives or the download
/// ends, including the wait for a retry.
final class SilenceReport: Sendable {
  private let hosts: SilentHosts
  private let signal: ObservedValue<ServerSilence>?
  /// The host it is counted under.
  private let host = Mutex<String?>(nil)

  /// - Parameter signal: Follows the download's state.
  init(hosts: SilentHosts, signal: ObservedValue<ServerSilence>?) {
    (self.hosts, self.signal) = (hosts, signal)
  }

  deinit { resumed() }

  /// The host has fallen silent.
  func fellSilent(at name: String) {
    let before = host.withLock { host in
      defer { host = name }
      return host
    }
    hosts.move(from: before, to: name)
    if before == nil { signal?.set(.silent) }
  }

  /// The silent transfer was stopped, to be retried later.
  func deferred() {
    if host.withLock({ $0 != nil }) { signal?.set(.deferred) }
  }

  /// Something arrived, or the download has ended.
  func resumed() {
    guard let before = host.withLock({ $0.take() }) else { return }
    hosts.move(from: before, to: nil)
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
