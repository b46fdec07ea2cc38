import Foundation
import HTTPTransport

/// The HTTP dialect of Wikimedia Commons.
enum CommonsDialect {
  /// 200 requests a minute for clients whose `User-Agent` names a contact, one at a time.
  private static let pace = RequestPace.Rule(interval: .milliseconds(300), atOnce: 1)
  /// 10 a minute for all others: a burst of four, and six more within the minute.
  private static let paceOfStrangers = RequestPace.Rule(interval: .seconds(10), burst: 4, atOnce: 1)

  static func dialect(namesContact: Bool) -> ProviderDialect {
    ProviderDialect(
      name: CommonsProvider.name, largestPage: CommonsProvider.largestPage, pace: namesContact ? pace : paceOfStrangers,
      exception: { exception($0, namesContact: namesContact) })
  }

  private static func exception(_ response: HTTPResponse, namesContact: Bool) -> ProviderError? {
    let name = CommonsProvider.name
    // This error comes as a 429 with `Retry-After`, but a retry never succeeds.
    if response.status >= 400, String(decoding: response.body.prefix(16384), as: UTF8.self).contains("w.wiki/GHai") {
      return .badRequest(provider: name, reason: "it has no thumbnails of that width")
    }
    switch response.status {
    case 200..<300: return fault(in: response)
    case 403 where !namesContact:
      return .blocked(
        provider: name,
        reason: "it wants a User-Agent with a contact, such as 'thumbs/1 (you@example.org)' (userAgent)")
    default: return nil
    }
  }

  private struct FaultyResponse: Decodable {
    struct Fault: Decodable {
      let code: String
      let info: String?
    }
    let error: Fault
  }

  /// API errors have the status 200.
  private static func fault(in response: HTTPResponse) -> ProviderError? {
    guard let fault = try? JSONDecoder().decode(FaultyResponse.self, from: response.body).error else { return nil }
    let name = CommonsProvider.name
    let reason = Snippet.line(HTMLText.plain(fault.info ?? fault.code))
    switch fault.code {
    case "ratelimited", "maxlag": return .rateLimited(provider: name, retryAfter: response.retryAfter)
    case "readonly": return .unreachable(provider: name, reason: reason)
    case let code where code.hasPrefix("internal_api_error") || isTrouble(code):
      return .unreachable(provider: name, reason: reason)
    case let code where code.contains("blocked"): return .blocked(provider: name, reason: reason)
    default: return .badRequest(provider: name, reason: reason)
    }
  }

  /// Whether the search service has failed. Other error codes concern the query, such as too many words.
  private static func isTrouble(_ code: String) -> Bool {
    code.hasPrefix("cirrussearch-") && ["busy", "backend", "timeout"].contains { code.contains($0) }
  }
}
