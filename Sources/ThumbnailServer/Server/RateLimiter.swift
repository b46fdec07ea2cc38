import HTTPServer
import NIOCore
import Synchronization

/// Limits the requests of each client, by token buckets: a burst of twice the rate, then the rate.
final class RateLimiter: Sendable {
  /// Beyond so many clients those are forgotten that have full buckets, and if that does not help, all.
  private static let mostClients = 10_000
  private static let cleaningInterval = TimeAmount.seconds(1)

  private struct Bucket {
    var tokens: Double
    var time: NIODeadline
  }

  private let rate: Double
  private struct State {
    var buckets: [String: Bucket] = [:]
    var nextCleaning = NIODeadline.uptimeNanoseconds(0)
  }

  private let state = Mutex(State())

  /// - Parameter rate: Requests a second.
  init(rate: Double) { self.rate = rate }

  /// Whether the client may have one more request now.
  func admits(_ client: String, at now: NIODeadline = .now()) -> Bool {
    // At least one, or nobody would ever be admitted.
    let burst = max(1, 2 * rate)
    let client = ClientNetwork.name(of: client)
    return state.withLock { state in
      if state.buckets.count > Self.mostClients, now >= state.nextCleaning {
        state.nextCleaning = now + Self.cleaningInterval
        state.buckets = state.buckets.filter { Self.tokens(of: $0.value, rate, now) < burst }
        if state.buckets.count > Self.mostClients { state.buckets = [:] }
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
