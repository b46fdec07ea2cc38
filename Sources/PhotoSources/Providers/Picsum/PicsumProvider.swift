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
    ProviderCapabilities(searches: false, picksRandom: true, largestPageSize: Self.largestPage, mayRunInCircles: true)
  }

  private let api: ProviderAPI

  /// A Picsum provider.
  ///
  /// - Parameter baseURL: The URL of the service, if not Picsum's own; may have a path.
  init(baseURL: URL, client: any HTTPClient, clock: ProviderClock = ProviderClock()) {
    api = ProviderAPI(ProviderDialect(name: Self.name), baseURL: baseURL, client: client, clock: clock)
  }

  /// One page of the list. A query with words is an error.
  public func search(_ query: PhotoQuery, at cursor: PageCursor?) async throws(ProviderError) -> PhotoPage {
    guard query.text.allSatisfy(\.isWhitespace) else {
      throw .unsupported(provider: name, reason: "it cannot search; give an empty query, or choose another provider")
    }
    return try await page(try PageCursor.number(of: cursor, for: name), of: min(query.pageSize, Self.largestPage))
  }

  /// Random images, all from one page of the list: at most 100.
  public func random(count: Int) async throws(ProviderError) -> [Photo] {
    guard count > 0 else { return [] }
    var photos = try await page(Int.random(in: 1...Self.fullPages), of: Self.largestPage).photos
    if photos.isEmpty { photos = try await page(1, of: Self.largestPage).photos }
    return Array(photos.shuffled().prefix(count))
  }

  private func page(_ number: Int, of count: Int) async throws(ProviderError) -> PhotoPage {
    let url = try api.url("v2/list", [("page", "\(number)"), ("limit", "\(count)")])
    guard let response = try await api.get(url) else { throw .notFound(provider: name) }
    let items = try api.decode([Lenient<PicsumPhoto>].self, from: response)
    let (photos, skipped) = try PhotoItems.photos(of: items, from: name, largestPage: Self.largestPage) {
      (item) throws(ItemFault) in
      try item.photo()
    }
    // The first page always links to a next one, so an empty page ends the list, too.
    let link = response.value(of: "Link")
    let hasNext = !items.isEmpty && link?.contains("rel=\"next\"") ?? (items.count >= count)
    return PhotoPage(photos: photos, next: hasNext ? PageCursor("\(number + 1)") : nil, skipped: skipped)
  }
}
