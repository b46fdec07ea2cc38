import Foundation
import HTTPTransport

/// The photos of unsplash.com, through its API.
///
/// Photos are to be shown with `attribution`, linked to `authorURL` and `pageURL`; when one is put to use, that is to be
/// told with `reportUse(of:)`. Views count themselves: the pictures come from Unsplash's own servers, with the `ixid` that
/// says who shows them. The access key goes to the API's own host only, and stands in no message, log or description.
public struct UnsplashProvider: PhotoProvider {
  static let name = "unsplash"
  /// The most photos the API puts on a page; more are asked for in vain.
  static let largestPage = 30

  /// Where the API is.
  public static let defaultBaseURL = "https://api.unsplash.com"

  /// `unsplash`
  public var name: String { Self.name }
  /// Searches and picks at random, 30 photos at a time; knows the total; needs a key.
  public var capabilities: ProviderCapabilities {
    ProviderCapabilities(
      searches: true, picksRandom: true, largestPageSize: Self.largestPage, needsKey: true, knowsTotal: true,
      mayRunInCircles: true)
  }

  private let api: ProviderAPI
  private let application: String

  /// A provider that uses an access key of Unsplash.
  ///
  /// - Parameters:
  ///   - baseURL: The API's address, when it is not Unsplash's own; it may have a path.
  ///   - application: The name of the application, which links to Unsplash carry.
  init(
    accessKey: AccessKey, baseURL: URL, application: String = "thumbs", client: any HTTPClient,
    clock: ProviderClock = ProviderClock()
  ) {
    api = ProviderAPI(UnsplashDialect.dialect, baseURL: baseURL, key: accessKey, client: client, clock: clock)
    self.application = application
  }

  /// One page of what Unsplash finds. Without words, of its newest photos.
  public func search(_ query: PhotoQuery, at cursor: PageCursor?) async throws(ProviderError) -> PhotoPage {
    let page = try PageCursor.number(of: cursor, for: name)
    let text = query.text.trimmingCharacters(in: .whitespacesAndNewlines)
    let count = min(query.pageSize, Self.largestPage)
    let position = [("page", "\(page)"), ("per_page", "\(count)")]
    let url = try text.isEmpty ? api.url("photos", position) : api.url("search/photos", [("query", text)] + position)
    guard let response = try await api.get(url) else { throw .notFound(provider: name) }

    let items: [Lenient<UnsplashPhoto>]
    var total: Int?
    var pages: Int?
    if text.isEmpty {
      items = try api.decode([Lenient<UnsplashPhoto>].self, from: response)
      total = response.value(of: "X-Total").flatMap { Int($0) }
    } else {
      let answer = try api.decode(UnsplashSearchResponse.self, from: response)
      (items, total, pages) = (answer.results, answer.total, answer.totalPages)
    }
    // Beyond its last page Unsplash says that there are none at all. Only the first page can say so.
    if total == 0, page > 1 { total = nil }
    let hasNext = !items.isEmpty && Self.hasNext(after: page, of: pages, isFull: items.count >= count, response)
    let (photos, skipped) = try photos(of: items)
    return PhotoPage(photos: photos, next: hasNext ? PageCursor("\(page + 1)") : nil, total: total, skipped: skipped)
  }

  /// Photos by chance. Unsplash gives 30 at a time and may repeat itself, so a large number can come out smaller.
  public func random(count: Int) async throws(ProviderError) -> [Photo] {
    try await RandomPhotos.collect(count, from: name, calls: max(0, count) / Self.largestPage + 3) {
      (missing) throws(ProviderError) in
      try await randomBatch(of: min(missing, Self.largestPage))
    }
  }

  private func randomBatch(of count: Int) async throws(ProviderError) -> [Photo] {
    let url = try api.url("photos/random", [("count", "\(count)")])
    // With no photo to pick from, the answer is a 404.
    guard let response = try await api.get(url, missingMeansEmpty: true) else { return [] }
    let (photos, _) = try photos(of: api.decode(UnsplashRandomResponse.self, from: response).photos)
    return photos
  }

  /// Whether there is a page after this one that is not empty: as the `Link` field tells, which counts most, else by
  /// the number of pages, else because this one is full.
  private static func hasNext(after page: Int, of pages: Int?, isFull: Bool, _ response: HTTPResponse) -> Bool {
    // Only whether there is a link matters: where it leads is Unsplash's own host, be our base another.
    if let link = response.value(of: "Link") { return link.contains("rel=\"next\"") }
    if let pages, pages > 0 { return page < pages }
    return isFull
  }

  /// Calls the photo's `downloadLocation`, as Unsplash's terms want it when a photo is put to use.
  ///
  /// Nothing is sent for a photo of another provider, or one without that location.
  public func reportUse(of photo: Photo) async throws(ProviderError) {
    guard photo.provider == name, let location = photo.downloadLocation else { return }
    _ = try await api.get(location, missingMeansEmpty: true)
  }

  private func photos(of items: [Lenient<UnsplashPhoto>]) throws(ProviderError) -> ([Photo], [SkippedItem]) {
    try PhotoItems.photos(of: items, from: name, largestPage: Self.largestPage) { (item) throws(ItemFault) in
      try item.photo(application: application)
    }
  }
}
