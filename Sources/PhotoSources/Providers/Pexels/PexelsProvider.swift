import Foundation
import HTTPTransport

/// The photos of pexels.com, through its API.
///
/// Show photos with `attribution`, linked to `authorURL` and `pageURL`. The access key is sent to the API's own host
/// only, and appears in no message, log or description.
public struct PexelsProvider: PhotoProvider {
  static let name = "pexels"
  /// The API's largest page.
  static let largestPage = 80

  /// The default base URL.
  public static let defaultBaseURL = "https://api.pexels.com"

  /// `pexels`
  public var name: String { Self.name }
  /// Searches, 80 photos a page; reports the total; needs a key.
  public var capabilities: ProviderCapabilities {
    ProviderCapabilities(largestPageSize: Self.largestPage, mayLoop: true)
  }

  private let api: ProviderAPI

  /// A provider with an access key of Pexels.
  ///
  /// - Parameter baseURL: The URL of the API, if not Pexels' own; may have a path.
  init(accessKey: AccessKey, baseURL: URL, client: any HTTPClient, clock: ProviderClock = ProviderClock()) {
    api = ProviderAPI(Self.dialect, baseURL: baseURL, key: accessKey, client: client, clock: clock)
  }

  /// One page of search results. An empty query returns curated photos.
  public func search(_ query: PhotoQuery, at cursor: PageCursor?) async throws(ProviderError) -> PhotoPage {
    let page = try api.numberedPage(of: query, at: cursor)
    let position = [("page", "\(page.number)"), ("per_page", "\(page.size)")]
    let url =
      try page.text.isEmpty
      ? api.url("v1/curated", position) : api.url("v1/search", [("query", page.text)] + position)
    let response = try await api.decode(PexelsResponse.self, at: url)
    // A page may be short before the end of the search: only the total, the link and an empty page mark the end.
    let isLast = response.totalResults.map { $0 > 0 && page.number * page.size >= $0 } ?? false
    let hasNext = !response.photos.isEmpty && response.nextPage != nil && !isLast
    let total = response.totalResults.flatMap { $0 == 0 && page.number > 1 ? nil : $0 }
    return try api.page(page, of: response.photos, hasNext: hasNext, total: total) { (item) throws(ItemFault) in
      try item.photo()
    }
  }

  static let dialect = ProviderDialect(
    name: name, largestPage: largestPage, pace: pace,
    allowance: { response, date in
      guard response.value(of: "X-Ratelimit-Remaining").flatMap({ Int($0) }) == 0 else { return nil }
      // The end of the monthly quota's period, in seconds since 1970.
      guard let reset = response.value(of: "X-Ratelimit-Reset").flatMap({ Double($0) }) else { return hour }
      return .seconds(min(max(0, reset - date.timeIntervalSince1970), 1e8))
    },
    unnamedPause: { _ in hour })

  /// The limit is 200 requests an hour; the header fields only report the monthly quota. A burst of 100 and 100 more
  /// over the following hour stay within it.
  private static let pace = RequestPace.Rule(interval: .seconds(36), burst: 100)
  private static let hour = Duration.seconds(3600)
}
