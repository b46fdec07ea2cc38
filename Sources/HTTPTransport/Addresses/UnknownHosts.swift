import Foundation
import Synchronization
import ThumbnailCore

/// Caches the names of hosts that have no address. Thread-safe.
///
/// libcurl reports the same error for a name that does not exist and for a name server that does not respond. A second
/// look-up distinguishes them, because only the latter is worth a retry.
final class UnknownHosts: Sendable {
  /// How long a name is cached.
  static let lifetime = Duration.seconds(60)
  /// The most cached names.
  static let maximumHosts = 65_536

  private let expiries = Mutex<[String: ContinuousClock.Instant]>([:])
  private let lifetime: Duration
  private let limit: Int
  private let patience: Duration
  /// Runs look-ups, which block.
  private let pool = WorkerPool(name: "thumbnailer.names", threads: 8)

  /// Caches at most `limit` names, each for `lifetime`. A look-up may take as long as `patience`.
  init(patience: Duration = .seconds(60), lifetime: Duration = lifetime, limit: Int = maximumHosts) {
    (self.patience, self.lifetime, self.limit) = (patience, lifetime, limit)
  }

  func contains(_ host: String) -> Bool { expiries.withLock { $0[host].map { $0 > .now } ?? false } }

  /// Whether the resolver reports that a host has no address, which is then cached. False if the resolver does not
  /// respond in time, or if the task is cancelled.
  func confirm(_ host: String) async -> Bool {
    if contains(host) { return true }
    // libcurl may resolve an encoded form of names that are not ASCII.
    guard host.utf8.allSatisfy({ $0 < 0x80 }) else { return false }
    let outcome = Promise<Bool, Never>()
    // An own task, because a look-up cannot be interrupted.
    let lookUp = Task {
      let isUnknown =
        (try? await pool.run(priority: PriorityControl(.prefetch)) { [self] _ in
          contains(host) || Self.isUnknown(host)
        }) == true
      if isUnknown { remember(host) }
      outcome.resume(with: .success(isUnknown))
    }
    let timer = Task {
      try? await Task.sleep(for: patience)
      lookUp.cancel()
      outcome.resume(with: .success(false))
    }
    defer { timer.cancel() }
    return await outcome.wait { outcome.resume(with: .success(false)) }.get()
  }

  private func remember(_ host: String) {
    expiries.withLock { expiries in
      let now = ContinuousClock.now
      if expiries.count >= limit { expiries = expiries.filter { $0.value > now } }
      if expiries.count >= limit { expiries.removeAll() }
      expiries[host] = now + lifetime
    }
  }

  /// `EAI_NODATA`: the name exists without an address. glibc declares it for GNU sources only.
  private static let noAddress: Int32 = -5

  private static func isUnknown(_ host: String) -> Bool {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var addresses: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(host, nil, &hints, &addresses)
    if let addresses { freeaddrinfo(addresses) }
    return status == EAI_NONAME || status == noAddress
  }
}
