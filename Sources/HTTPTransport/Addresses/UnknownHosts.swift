import Foundation
import Synchronization
import ThumbnailCore

/// The names of hosts that have no address, each remembered for a while. Thread-safe.
///
/// libcurl has one error for a name that does not exist and for a name server that does not respond. The resolver, asked
/// once more, tells them apart: the first is not worth a retry.
final class UnknownHosts: Sendable {
  /// How long a name is remembered.
  static let lifetime = Duration.seconds(60)
  /// The most names that are.
  static let maximumHosts = 65_536

  private let expiries = Mutex<[String: ContinuousClock.Instant]>([:])
  private let lifetime: Duration
  private let limit: Int
  private let patience: Duration
  /// Blocked by look-ups only.
  private let pool = WorkerPool(name: "thumbnailer.names", threads: 8)

  /// Remembers at most `limit` names, each for `lifetime`, and waits for a look-up as long as `patience`.
  init(patience: Duration = .seconds(60), lifetime: Duration = lifetime, limit: Int = maximumHosts) {
    (self.patience, self.lifetime, self.limit) = (patience, lifetime, limit)
  }

  func contains(_ host: String) -> Bool { expiries.withLock { $0[host].map { $0 > .now } ?? false } }

  /// Asks the resolver whether a host has no address, and remembers it if so. False if nobody can tell soon, or if the
  /// task is cancelled.
  func confirm(_ host: String) async -> Bool {
    if contains(host) { return true }
    // libcurl may send another form of other names.
    guard host.utf8.allSatisfy({ $0 < 0x80 }) else { return false }
    let outcome = Promise<Bool, Never>()
    // Not waited for: a look-up cannot be interrupted.
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

  /// `EAI_NODATA`, which glibc declares for GNU sources only: the name exists, without an address.
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
