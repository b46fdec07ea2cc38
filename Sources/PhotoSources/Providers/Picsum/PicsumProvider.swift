import Foundation
import HTTPTransport

/// The images of Lorem Picsum (picsum.photos): about a thousand photos from Unsplash for demonstrations. It needs no
/// key and has no search.
public struct PicsumProvider: PhotoProvider {
  static let name = "picsum"
  /// The list's largest page.
  static let largestPage = 100
  /// The least number of full pages of the list; random photos come from one of these.
  private static let fullPages = 9

  /// The default base URL.
  public static let defaultBaseURL = "https://picsum.photos"

  /// `picsum`
  public var name: String { Self.name }
  /// Lists and picks at random, 100 images a page; has no search.
  public var capabilities: ProviderCapabilities {
    ProviderCapabilities(searches: false, picksRandom: true, largestPageSize: Self.largestPage, mayLoop: true)
  }

  private let api: ProviderAPI

  /// A Picsum provider.
  ///
  /// - Parameter baseURL: The URL of the service, if not Picsum's own; may have a path.
  init(baseURL: URL, client: any HTTPClient, clock: ProviderClock = ProviderClock()) {
    api = ProviderAPI(
      ProviderDialect(name: Self.name, largestPage: Self.largestPage), baseURL: baseURL, client: client, clock: clock)
  }

  /// One page of the list. A query with words is an error.
  public func search(_ query: PhotoQuery, at cursor: PageCursor?) async throws(ProviderError) -> PhotoPage {
    guard query.text.allSatisfy(\.isWhitespace) else {
      throw .unsupported(provider: name, reason: "it cannot search; give an empty query, or choose another provider")
    }
    return try await page(try api.numberedPage(of: query, at: cursor))
  }

  /// Random images, all from one page of the list: at most 100.
  public func random(count: Int) async throws(ProviderError) -> [Photo] {
    guard count > 0 else { return [] }
    func list(_ number: Int) async throws(ProviderError) -> [Photo] {
      try await page(NumberedPage(number: number, size: Self.largestPage, text: "")).photos
    }
    var photos = try await list(Int.random(in: 1...Self.fullPages))
    if photos.isEmpty { photos = try await list(1) }
    return Array(photos.shuffled().prefix(count))
  }

  private func page(_ page: NumberedPage) async throws(ProviderError) -> PhotoPage {
    let url = try api.url("v2/list", [("page", "\(page.number)"), ("limit", "\(page.size)")])
    guard let response = try await api.get(url) else { throw .notFound(provider: name) }
    let items = try api.decode([Lenient<PicsumPhoto>].self, from: response)
    // The first page always links to a next one, so an empty page ends the list, too.
    let link = response.value(of: "Link")
    let hasNext = !items.isEmpty && link?.contains("rel=\"next\"") ?? (items.count >= page.size)
    return try api.page(page, of: items, hasNext: hasNext) { (item) throws(ItemFault) in try item.photo() }
  }
}
