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
    ProviderCapabilities(largestPageSize: Self.largestPage, mayLoop: true)
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
    let page = try api.numberedPage(of: query, at: cursor)
    let words = page.text.isEmpty ? [] : [("q", page.text)]
    // The trailing slash avoids a redirect.
    let url = try api.url("v1/images/", words + [("page", "\(page.number)"), ("page_size", "\(page.size)")])
    let response = try await api.decode(OpenverseResponse.self, at: url)
    // A page may be short before the end of the search, since dead links are filtered out.
    let hasNext = !response.results.isEmpty && page.number < response.pageCount ?? 0
    return try api.page(page, of: response.results, hasNext: hasNext, total: response.resultCount) {
      (item) throws(ItemFault) in
      try item.photo()
    }
  }
}
