import Foundation
import HTTPTransport

/// The photos that Openverse finds on many sites, all under open licences. It needs no key.
///
/// Each photo has a licence of its own: it is to be shown with `attribution` and `licence`, linked to `pageURL`. Without
/// a key a search ends after 240 photos, and a day after 200 requests.
public struct OpenverseProvider: PhotoProvider {
  static let name = "openverse"
  /// The most photos a page may have without a key; more is refused with a 401.
  static let largestPage = 20

  /// Where the API is.
  public static let defaultBaseURL = "https://api.openverse.org"

  /// `openverse`
  public var name: String { Self.name }
  /// Searches, 20 photos a page; knows the total, up to 240.
  public var capabilities: ProviderCapabilities {
    ProviderCapabilities(
      searches: true, picksRandom: false, largestPageSize: Self.largestPage, knowsTotal: true, mayRunInCircles: true)
  }

  private let api: ProviderAPI

  /// A provider.
  ///
  /// - Parameter baseURL: The API's address, when it is not Openverse's own; it may have a path.
  init(baseURL: URL, client: any HTTPClient, clock: ProviderClock = ProviderClock()) {
    api = ProviderAPI(OpenverseDialect.dialect, baseURL: baseURL, client: client, clock: clock)
  }

  /// One page of what Openverse finds. Without words, of everything there is.
  public func search(_ query: PhotoQuery, at cursor: PageCursor?) async throws(ProviderError) -> PhotoPage {
    let page = try PageCursor.number(of: cursor, for: name)
    let text = query.text.trimmingCharacters(in: .whitespacesAndNewlines)
    let words = text.isEmpty ? [] : [("q", text)]
    let count = min(query.pageSize, Self.largestPage)
    // Without the slash at its end the path is redirected.
    let url = try api.url("v1/images/", words + [("page", "\(page)"), ("page_size", "\(count)")])
    let answer = try await api.decode(OpenverseResponse.self, at: url)
    // A page may be short in the middle of a search, since dead links are taken out of it.
    let hasNext = !answer.results.isEmpty && page < answer.pageCount ?? 0
    let (photos, skipped) = try PhotoItems.photos(of: answer.results, from: name, largestPage: Self.largestPage) {
      (item) throws(ItemFault) in
      try item.photo()
    }
    return PhotoPage(
      photos: photos, next: hasNext ? PageCursor("\(page + 1)") : nil, total: answer.resultCount, skipped: skipped)
  }

  /// Openverse picks none by chance.
  public func random(count: Int) async throws(ProviderError) -> [Photo] {
    throw .unsupported(provider: name, reason: "it does not pick photos by chance; search for nothing instead")
  }
}
