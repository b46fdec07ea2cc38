import Foundation
import HTTPSemantics
import HTTPTransport

/// The HTTP dialect of Openverse.
enum OpenverseDialect {
  /// Twenty requests a minute without a key.
  static let dialect = ProviderDialect(
    name: OpenverseProvider.name, largestPage: OpenverseProvider.largestPage,
    pace: RequestPace.Rule(interval: .seconds(3), atOnce: 1), allowance: allowance)

  private static let allowancePrefix = "x-ratelimit-available-"

  /// Each of several scopes has a limit, and its header fields end in the scope's name: `X-RateLimit-Limit-anon_burst:
  /// 20/min` and `X-RateLimit-Available-anon_burst: 19`.
  private static func allowance(_ response: HTTPResponse, _ date: Date) -> Duration? {
    response.headers.compactMap { header -> Duration? in
      let name = header.name.lowercased()
      guard name.hasPrefix(allowancePrefix), let count = Int(header.value), count <= 0 else { return nil }
      let limit = response.value(of: "x-ratelimit-limit-\(name.dropFirst(allowancePrefix.count))")
      return window(of: limit ?? "")
    }.max()
  }

  private static func window(of limit: String) -> Duration {
    let unit = limit.split(separator: "/").last?.first
    return switch unit {
    case "s": .seconds(1)
    case "h": .seconds(3600)
    case "d": .seconds(86_400)
    default: .seconds(60)
    }
  }
}
