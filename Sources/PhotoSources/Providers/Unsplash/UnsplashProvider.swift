import Foundation
import HTTPTransport

/// The photos of unsplash.com, through its API.
///
/// Show photos with `attribution`, linked to `authorURL` and `pageURL`, and report uses with `reportUse(of:)`. Views
/// are counted by Unsplash's image server, by the `ixid` in the URL. The access key is sent to the API's own host only,
/// and appears in no message, log or description.
public struct UnsplashProvider: PhotoProvider {
  static let name = "unsplash"
  /// The API's largest page; larger page sizes have no effect.
  static let largestPage = 30

  /// The default base URL.
  public static let defaultBaseURL = "https://api.unsplash.com"

  /// `unsplash`
  public var name: String { Self.name }
  /// Searches and picks at random, 30 photos at a time; reports the total; needs a key.
  public var capabilities: ProviderCapabilities {
    ProviderCapabilities(picksRandom: true, largestPageSize: Self.largestPage, mayLoop: true)
  }

  private let api: ProviderAPI
  private let application: String

  /// A provider with an access key of Unsplash.
  ///
  /// - Parameters:
  ///   - baseURL: The URL of the API, if not Unsplash's own; may have a path.
  ///   - application: The name of the application, for links to Unsplash.
  init(
    accessKey: AccessKey, baseURL: URL, application: String = "thumbs", client: any HTTPClient,
    clock: ProviderClock = ProviderClock()
  ) {
    api = ProviderAPI(UnsplashDialect.dialect, baseURL: baseURL, key: accessKey, client: client, clock: clock)
    self.application = application
  }

  /// One page of search results. An empty query returns the newest photos.
  public func search(_ query: PhotoQuery, at cursor: PageCursor?) async throws(ProviderError) -> PhotoPage {
    let page = try api.numberedPage(of: query, at: cursor)
    let position = [("page", "\(page.number)"), ("per_page", "\(page.size)")]
    let url =
      try page.text.isEmpty
      ? api.url("photos", position) : api.url("search/photos", [("query", page.text)] + position)
    guard let response = try await api.get(url) else { throw .notFound(provider: name) }

    let items: [Lenient<UnsplashPhoto>]
    var total: Int?
    var pages: Int?
    if page.text.isEmpty {
      items = try api.decode([Lenient<UnsplashPhoto>].self, from: response)
      total = response.value(of: "X-Total").flatMap { Int($0) }
    } else {
      let found = try api.decode(UnsplashSearchResponse.self, from: response)
      (items, total, pages) = (found.results, found.total, found.totalPages)
    }
    // Beyond the last page the API reports a total of 0, which is right only on the first page.
    if total == 0, page.number > 1 { total = nil }
    let hasNext =
      !items.isEmpty && Self.hasNext(after: page.number, of: pages, isFull: items.count >= page.size, response)
    return try api.page(page, of: items, hasNext: hasNext, total: total, by: photo)
  }

  /// Random photos. Unsplash returns 30 at a time and may repeat some, so a large request can return fewer.
  public func random(count: Int) async throws(ProviderError) -> [Photo] {
    try await RandomPhotos.collect(count, from: name, calls: max(0, count) / Self.largestPage + 3) {
      (missing) throws(ProviderError) in
      try await randomBatch(of: min(missing, Self.largestPage))
    }
  }

  private func randomBatch(of count: Int) async throws(ProviderError) -> [Photo] {
    let url = try api.url("photos/random", [("count", "\(count)")])
    // With no photo to pick from, the response is a 404.
    guard let response = try await api.get(url, missingMeansEmpty: true) else { return [] }
    return try api.photos(of: api.decode(UnsplashRandomResponse.self, from: response).photos, by: photo).photos
  }

  /// Whether there is another non-empty page: according to the `Link` field, else the number of pages, else whether
  /// this page is full.
  private static func hasNext(after page: Int, of pages: Int?, isFull: Bool, _ response: HTTPResponse) -> Bool {
    // Used only as a flag: the URL has Unsplash's own host, whatever the base URL.
    if let link = response.value(of: "Link") { return link.contains("rel=\"next\"") }
    if let pages, pages > 0 { return page < pages }
    return isFull
  }

  /// Requests the photo's `downloadLocation`, as Unsplash's terms require when a photo is used.
  ///
  /// Nothing is sent for a photo of another provider, or one without that URL.
  public func reportUse(of photo: Photo) async throws(ProviderError) {
    guard photo.provider == name, let location = photo.downloadLocation else { return }
    _ = try await api.get(location, missingMeansEmpty: true)
  }

  private func photo(_ item: UnsplashPhoto) throws(ItemFault) -> Photo? { try item.photo(application: application) }
}
