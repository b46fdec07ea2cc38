import Foundation
import HTTPTransport

/// What is particular about the HTTP of Wikimedia Commons.
enum CommonsDialect {
  /// 200 requests a minute of programs that name a contact, one after the other.
  private static let pace = RequestPace.Rule(interval: .milliseconds(300), atOnce: 1)
  /// 10 a minute of all others: four at once, and six more in the time of a minute.
  private static let paceOfStrangers = RequestPace.Rule(interval: .seconds(10), burst: 4, atOnce: 1)

  static func dialect(namesContact: Bool) -> ProviderDialect {
    ProviderDialect(
      name: CommonsProvider.name, pace: namesContact ? pace : paceOfStrangers,
      exception: { exception($0, namesContact: namesContact) })
  }

  private static func exception(_ response: HTTPResponse, namesContact: Bool) -> ProviderError? {
    let name = CommonsProvider.name
    // Comes as a 429 with a Retry-After, and yet will never be answered otherwise.
    if response.status >= 400, String(decoding: response.body.prefix(16384), as: UTF8.self).contains("w.wiki/GHai") {
      return .badRequest(provider: name, reason: "it has no thumbnails of that width")
    }
    switch response.status {
    case 200..<300: return fault(in: response)
    case 403 where !namesContact:
      return .blocked(
        provider: name,
        reason: "it wants a User-Agent with a contact, such as 'thumbs/1 (you@example.org)' (userAgent, --user-agent)")
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

  /// Errors arrive with the status 200.
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

  /// Whether the search is in trouble, not the query: others of its errors are about words that are too many or none.
  private static func isTrouble(_ code: String) -> Bool {
    code.hasPrefix("cirrussearch-") && ["busy", "backend", "timeout"].contains { code.contains($0) }
  }
}
