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
    ProviderCapabilities(
      searches: true, picksRandom: false, largestPageSize: Self.largestPage, needsKey: true, knowsTotal: true,
      mayRunInCircles: true)
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
    let page = try PageCursor.number(of: cursor, for: name)
    let count = min(query.pageSize, Self.largestPage)
    let text = query.text.trimmingCharacters(in: .whitespacesAndNewlines)
    let position = [("page", "\(page)"), ("per_page", "\(count)")]
    let url = try text.isEmpty ? api.url("v1/curated", position) : api.url("v1/search", [("query", text)] + position)
    let answer = try await api.decode(PexelsResponse.self, at: url)
    // A page may be short before the end of the search: only the total, the link and an empty page mark the end.
    let isLast = answer.totalResults.map { $0 > 0 && page * count >= $0 } ?? false
    let hasNext = !answer.photos.isEmpty && answer.nextPage != nil && !isLast
    let (photos, skipped) = try PhotoItems.photos(of: answer.photos, from: name, largestPage: Self.largestPage) {
      (item) throws(ItemFault) in
      try item.photo()
    }
    let total = answer.totalResults.flatMap { $0 == 0 && page > 1 ? nil : $0 }
    return PhotoPage(photos: photos, next: hasNext ? PageCursor("\(page + 1)") : nil, total: total, skipped: skipped)
  }

  /// Not supported.
  public func random(count: Int) async throws(ProviderError) -> [Photo] {
    throw .unsupported(provider: name, reason: "it does not pick photos by chance; search for nothing instead")
  }

  static let dialect = ProviderDialect(
    name: name, pace: pace,
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
