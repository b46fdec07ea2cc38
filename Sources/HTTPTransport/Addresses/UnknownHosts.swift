import Foundation
import Synchronization
import ThumbnailCore

/// The host names that do not exist, each remembered for a while. Thread-safe.
///
/// libcurl has one error for a name that does not exist and for a name server that does not respond. The resolver, asked
/// once more, tells them apart: the first is not worth a retry.
final class UnknownHosts: Sendable {
  private let expiries = Mutex<[String: ContinuousClock.Instant]>([:])
  private let lifetime: Duration
  private let limit: Int
  /// Blocked by look-ups only.
  private let pool = WorkerPool(name: "thumbnailer.names", threads: 8)

  /// Remembers at most `limit` names, each for `lifetime`.
  init(lifetime: Duration = .seconds(60), limit: Int = 65_536) { (self.lifetime, self.limit) = (lifetime, limit) }

  func contains(_ host: String) -> Bool {
    expiries.withLock { expiries in
      guard let expiry = expiries[host] else { return false }
      if expiry > .now { return true }
      expiries[host] = nil
      return false
    }
  }

  /// Asks the resolver whether a host does not exist, and remembers it if so. False if nobody can tell at the moment.
  func confirm(_ host: String, priority: PriorityControl) async -> Bool {
    if contains(host) { return true }
    // libcurl may send another form of other names.
    guard host.utf8.allSatisfy({ $0 < 0x80 }) else { return false }
    let isUnknown =
      (try? await pool.run(priority: priority) { _ in Result<Bool, Never>.success(Self.isUnknown(host)) }.get())
      ?? false
    if isUnknown { remember(host) }
    return isUnknown
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
