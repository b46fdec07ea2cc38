import Foundation
import HTTPTransport

/// The photos of pexels.com, through its API.
///
/// Photos are to be shown with `attribution`, linked to `authorURL` and `pageURL`. The access key goes to the API's own
/// host only, and stands in no message, log or description.
public struct PexelsProvider: PhotoProvider {
  static let name = "pexels"
  /// The most photos the API puts on a page.
  static let largestPage = 80

  /// Where the API is.
  public static let defaultBaseURL = "https://api.pexels.com"

  /// `pexels`
  public var name: String { Self.name }
  /// Searches, 80 photos a page; knows the total; needs a key.
  public var capabilities: ProviderCapabilities {
    ProviderCapabilities(
      searches: true, picksRandom: false, largestPageSize: Self.largestPage, needsKey: true, knowsTotal: true,
      mayRunInCircles: true)
  }

  private let api: ProviderAPI

  /// A provider that uses an access key of Pexels.
  ///
  /// - Parameter baseURL: The API's address, when it is not Pexels' own; it may have a path.
  init(accessKey: AccessKey, baseURL: URL, client: any HTTPClient, clock: ProviderClock = ProviderClock()) {
    api = ProviderAPI(Self.dialect, baseURL: baseURL, key: accessKey, client: client, clock: clock)
  }

  /// One page of what Pexels finds. Without words, of the photos it recommends.
  public func search(_ query: PhotoQuery, at cursor: PageCursor?) async throws(ProviderError) -> PhotoPage {
    let page = try PageCursor.number(of: cursor, for: name)
    let count = min(query.pageSize, Self.largestPage)
    let text = query.text.trimmingCharacters(in: .whitespacesAndNewlines)
    let position = [("page", "\(page)"), ("per_page", "\(count)")]
    let url = try text.isEmpty ? api.url("v1/curated", position) : api.url("v1/search", [("query", text)] + position)
    let answer = try await api.decode(PexelsResponse.self, at: url)
    // A page may be short in the middle of a search: only the total, the link and an empty page are signs of the end.
    let isLast = answer.totalResults.map { $0 > 0 && page * count >= $0 } ?? false
    let hasNext = !answer.photos.isEmpty && answer.nextPage != nil && !isLast
    let (photos, skipped) = try PhotoItems.photos(of: answer.photos, from: name, largestPage: Self.largestPage) {
      (item) throws(ItemFault) in
      try item.photo()
    }
    let total = answer.totalResults.flatMap { $0 == 0 && page > 1 ? nil : $0 }
    return PhotoPage(photos: photos, next: hasNext ? PageCursor("\(page + 1)") : nil, total: total, skipped: skipped)
  }

  /// Pexels picks none by chance.
  public func random(count: Int) async throws(ProviderError) -> [Photo] {
    throw .unsupported(provider: name, reason: "it does not pick photos by chance; search for nothing instead")
  }

  static let dialect = ProviderDialect(
    name: name, pace: pace,
    allowance: { response, date in
      guard response.value(of: "X-Ratelimit-Remaining").flatMap({ Int($0) }) == 0 else { return nil }
      // The end of the month's window, in seconds since 1970.
      guard let reset = response.value(of: "X-Ratelimit-Reset").flatMap({ Double($0) }) else { return hour }
      return .seconds(min(max(0, reset - date.timeIntervalSince1970), 1e8))
    },
    unnamedPause: { _ in hour })

  /// 200 requests an hour, of which the header fields say nothing: these count the month. A hundred at once, and then
  /// as many more in the time of an hour, never come to more.
  private static let pace = RequestPace.Rule(interval: .seconds(36), burst: 100)
  private static let hour = Duration.seconds(3600)
}
