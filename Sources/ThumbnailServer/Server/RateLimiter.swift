import NIOCore
import Synchronization

/// Limits the requests of each client, by token buckets: a burst of twice the rate, then the rate.
final class RateLimiter: Sendable {
  /// Beyond so many clients those are forgotten that have full buckets.
  private static let mostClients = 10_000

  private struct Bucket {
    var tokens: Double
    var time: NIODeadline
  }

  private let rate: Double
  private let buckets = Mutex<[String: Bucket]>([:])

  /// - Parameter rate: Requests a second.
  init(rate: Double) { self.rate = rate }

  /// Whether the client may have one more request now.
  func admits(_ client: String, at now: NIODeadline = .now()) -> Bool {
    let burst = 2 * rate
    return buckets.withLock { buckets in
      if buckets.count > Self.mostClients {
        buckets = buckets.filter { Self.tokens(of: $0.value, rate, now) < burst }
      }
      var bucket = buckets[client] ?? Bucket(tokens: burst, time: now)
      bucket.tokens = min(burst, Self.tokens(of: bucket, rate, now))
      bucket.time = now
      defer { buckets[client] = bucket }
      guard bucket.tokens >= 1 else { return false }
      bucket.tokens -= 1
      return true
    }
  }

  private static func tokens(of bucket: Bucket, _ rate: Double, _ now: NIODeadline) -> Double {
    bucket.tokens + rate * Double((now - bucket.time).nanoseconds) / 1e9
  }
}
