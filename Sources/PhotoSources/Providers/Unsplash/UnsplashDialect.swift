import Foundation
import HTTPSemantics
import HTTPTransport

/// The HTTP dialect of Unsplash.
enum UnsplashDialect {
  static let dialect = ProviderDialect(
    name: UnsplashProvider.name, largestPage: UnsplashProvider.largestPage,
    headers: [HTTPHeader("Accept-Version", "v1")], keyScheme: "Client-ID",
    allowance: { response, date in remaining(response) == 0 ? restOfHour(date) : nil },
    unnamedPause: restOfHour,
    exception: { response in
      switch response.status {
      case 403 where isRateLimit(response):
        .rateLimited(provider: UnsplashProvider.name, retryAfter: response.retryAfter)
      case 410:
        .badRequest(
          provider: UnsplashProvider.name, reason: "it takes the words for spam; use other words")
      default: nil
      }
    })

  /// The limit is hourly, and no field tells when the hour ends: on the hour at the latest.
  @Sendable private static func restOfHour(_ date: Date) -> Duration {
    let hour = 3600.0
    return .seconds(hour - date.timeIntervalSince1970.truncatingRemainder(dividingBy: hour))
  }

  private static func remaining(_ response: HTTPResponse) -> Int? {
    response.value(of: "X-Ratelimit-Remaining").flatMap { Int($0) }
  }

  /// An exceeded rate limit is a 403 with plain text, not the documented 429.
  private static func isRateLimit(_ response: HTTPResponse) -> Bool {
    remaining(response) == 0
      || String(decoding: response.body.prefix(4096), as: UTF8.self).contains("Rate Limit")
  }
}
