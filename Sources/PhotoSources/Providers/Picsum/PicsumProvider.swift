import Foundation
import HTTPTransport

/// The pictures of Lorem Picsum (picsum.photos): about a thousand photos from Unsplash for demonstrations. It needs no
/// key and cannot search.
public struct PicsumProvider: PhotoProvider {
  static let name = "picsum"
  /// The most pictures the list puts on a page.
  static let largestPage = 100
  /// How many full pages the list has, at least: some of them are picked by chance.
  private static let fullPages = 9

  /// Where the service is.
  public static let defaultBaseURL = "https://picsum.photos"

  /// `picsum`
  public var name: String { Self.name }
  /// Lists and picks at random, 100 pictures a page; finds nothing by words.
  public var capabilities: ProviderCapabilities {
    ProviderCapabilities(searches: false, picksRandom: true, largestPageSize: Self.largestPage, mayRunInCircles: true)
  }

  private let api: ProviderAPI

  /// A provider.
  ///
  /// - Parameter baseURL: The service's address, when it is not Picsum's own; it may have a path.
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

  /// Pictures by chance, all of them from one page of the list: 100 at most.
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
    // The first page always says that there is another, so an empty one is the end, too.
    let link = response.value(of: "Link")
    let hasNext = !items.isEmpty && link?.contains("rel=\"next\"") ?? (items.count >= count)
    return PhotoPage(photos: photos, next: hasNext ? PageCursor("\(number + 1)") : nil, skipped: skipped)
  }
}
