import Synchronization
import ThumbnailCore

/// Tells that one download waits for a silent server, from the first silence until something comes or the download ends:
/// also while it waits to be tried again.
final class SilenceReport: Sendable {
  private let hosts: SilentHosts
  private let signal: ObservedValue<ServerSilence>?
  /// The host it is counted at.
  private let host = Mutex<String?>(nil)

  /// - Parameter signal: What is to follow the download's state.
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

  /// The silent transfer was ended, to be tried again.
  func putOff() {
    if host.withLock({ $0 != nil }) { signal?.set(.putOff) }
  }

  /// Something came, or the download has ended.
  func resumed() {
    guard let before = host.withLock({ $0.take() }) else { return }
    hosts.move(from: before, to: nil)
    signal?.set(.answering)
  }
}

/// How many downloads wait for silent servers, by the host.
final class SilentHosts: Sendable {
  private let counts = Mutex<[String: Int]>([:])

  /// The counts now; none is 0.
  var current: [String: Int] { counts.withLock { $0 } }

  fileprivate func move(from old: String?, to new: String?) {
    counts.withLock { counts in
      if let old { counts[old] = counts[old].flatMap { $0 > 1 ? $0 - 1 : nil } }
      if let new { counts[new, default: 0] += 1 }
    }
  }
}
