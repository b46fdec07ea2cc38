import Foundation
import HTTPTransport

/// The openly licensed photos of many sites that Openverse indexes. It needs no key.
///
/// Each photo has its own licence: show it with `attribution` and `licence`, linked to `pageURL`. Without a key, a
/// search ends after 240 photos, and there is a limit of 200 requests a day.
public struct OpenverseProvider: PhotoProvider {
  static let name = "openverse"
  /// The largest page without a key; larger ones are refused with a 401.
  static let largestPage = 20

  /// The default base URL.
  public static let defaultBaseURL = "https://api.openverse.org"

  /// `openverse`
  public var name: String { Self.name }
  /// Searches, 20 photos a page; reports the total, up to 240.
  public var capabilities: ProviderCapabilities {
    ProviderCapabilities(
      searches: true, picksRandom: false, largestPageSize: Self.largestPage, knowsTotal: true, mayRunInCircles: true)
  }

  private let api: ProviderAPI

  /// An Openverse provider.
  ///
  /// - Parameter baseURL: The URL of the API, if not Openverse's own; may have a path.
  init(baseURL: URL, client: any HTTPClient, clock: ProviderClock = ProviderClock()) {
    api = ProviderAPI(OpenverseDialect.dialect, baseURL: baseURL, client: client, clock: clock)
  }

  /// One page of search results. An empty query matches everything.
  public func search(_ query: PhotoQuery, at cursor: PageCursor?) async throws(ProviderError) -> PhotoPage {
    let page = try PageCursor.number(of: cursor, for: name)
    let text = query.text.trimmingCharacters(in: .whitespacesAndNewlines)
    let words = text.isEmpty ? [] : [("q", text)]
    let count = min(query.pageSize, Self.largestPage)
    // The trailing slash avoids a redirect.
    let url = try api.url("v1/images/", words + [("page", "\(page)"), ("page_size", "\(count)")])
    let answer = try await api.decode(OpenverseResponse.self, at: url)
    // A page may be short before the end of the search, since dead links are filtered out.
    let hasNext = !answer.results.isEmpty && page < answer.pageCount ?? 0
    let (photos, skipped) = try PhotoItems.photos(of: answer.results, from: name, largestPage: Self.largestPage) {
      (item) throws(ItemFault) in
      try item.photo()
    }
    return PhotoPage(
      photos: photos, next: hasNext ? PageCursor("\(page + 1)") : nil, total: answer.resultCount, skipped: skipped)
  }

  /// Not supported.
  public func random(count: Int) async throws(ProviderError) -> [Photo] {
    throw .unsupported(provider: name, reason: "it does not pick photos by chance; search for nothing instead")
  }
}
