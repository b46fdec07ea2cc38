import HTTPServer
package import HTTPTransport
import NIOCore
package import NIOHTTP1
import Synchronization

/// Limits the requests of each client, by token buckets: a burst, then the rate.
final class RateLimiter: Sendable {
  /// Beyond this number, the clients whose buckets are full or will be soonest are dropped.
  private static let mostClients = 10_000
  private static let cleaningInterval = TimeAmount.seconds(1)

  private struct Bucket {
    var tokens: Double
    var time: NIODeadline
  }

  private let (rate, burst): (Double, Double)
  private struct State {
    var buckets: [String: Bucket] = [:]
    var nextCleaning = NIODeadline.uptimeNanoseconds(0)
  }

  private let state = Mutex(State())

  /// The clients that are remembered.
  var clientCount: Int { state.withLock { $0.buckets.count } }

  /// - Parameters:
  ///   - rate: Requests a second.
  ///   - burst: Requests at once, at least one.
  init(rate: Double, burst: Double) { (self.rate, self.burst) = (rate, burst) }

  /// Whether the client may have one more request now.
  func admits(_ client: String, at now: NIODeadline = .now()) -> Bool {
    let client = ClientNetwork.name(of: client)
    return state.withLock { state in
      if state.buckets.count > Self.mostClients, now >= state.nextCleaning {
        state.nextCleaning = now + Self.cleaningInterval
        let left = state.buckets.map { ($0.key, $0.value, Self.tokens(of: $0.value, rate, now)) }
        let kept = left.filter { $0.2 < burst }.sorted { $0.2 < $1.2 }.prefix(Self.mostClients)
        state.buckets = Dictionary(uniqueKeysWithValues: kept.map { ($0.0, $0.1) })
      }
      var bucket = state.buckets[client] ?? Bucket(tokens: burst, time: now)
      bucket.tokens = min(burst, Self.tokens(of: bucket, rate, now))
      bucket.time = now
      defer { state.buckets[client] = bucket }
      guard bucket.tokens >= 1 else { return false }
      bucket.tokens -= 1
      return true
    }
  }

  private static func tokens(of bucket: Bucket, _ rate: Double, _ now: NIODeadline) -> Double {
    bucket.tokens + rate * Double((now - bucket.time).nanoseconds) / 1e9
  }
}

/// The proxies whose `X-Forwarded-For` names the client of a request.
///
/// Each proxy appends the address of its client to the field. So the client is the last address that is not a proxy's:
/// earlier ones may be invented.
package struct TrustedProxies: Sendable {
  private let ranges: [AddressRange]
  /// Further addresses are not read: no client has so many proxies.
  private static let mostAddresses = 32

  /// - Parameter ranges: The addresses of the proxies.
  package init(_ ranges: [AddressRange]) { self.ranges = ranges }

  /// The client of a request from the address `peer`. A Unix socket's peer is always a proxy.
  package func client(_ peer: String, _ headers: HTTPHeaders) -> String {
    guard includes(peer) else { return peer }
    let named = headers["x-forwarded-for"].joined(separator: ",").split(separator: ",").suffix(Self.mostAddresses)
    var client = peer
    for text in named.reversed() {
      let text = ClientNetwork.plain(Self.withoutPort(text.trimmingPrefix { $0 == " " || $0 == "\t" }))
      // Our proxies write addresses only.
      guard let address = IPAddress(text) else { return client }
      client = text
      if !isTrusted(address) { return client }
    }
    return client
  }

  /// Whether connections from an address come from a proxy.
  package func includes(_ peer: String) -> Bool {
    !ranges.isEmpty && (peer == Self.unixSocket || IPAddress(peer).map(isTrusted) ?? false)
  }

  /// The peer of connections through a Unix socket.
  private static let unixSocket = "local"

  private func isTrusted(_ address: IPAddress) -> Bool { ranges.contains { $0.contains(address) } }

  /// Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`.
  private static func withoutPort(_ text: Substring) -> String {
    let text = text.prefix { $0 != " " && $0 != "\t" }
    if text.first == "[" { return String(text.dropFirst().prefix { $0 != "]" }) }
    let isIPv4WithPort = text.contains(".") && text.filter { $0 == ":" }.count == 1
    return String(isIPv4WithPort ? text.prefix { $0 != ":" } : text)
  }
}
