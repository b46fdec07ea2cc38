import Foundation
import HTTPSemantics
import HTTPTransport

extension PhotoService {
  /// The photos of unsplash.com.
  ///
  /// - Parameter application: The name of the application. Links to Unsplash name it as referrer, as its terms require.
  static func unsplash(application: String = "thumbs") -> PhotoService {
    PhotoService(
      dialect: Unsplash.dialect, baseURL: "https://api.unsplash.com", largestPage: 30, request: Unsplash.request,
      content: Unsplash.content,
      photo: { (item) throws(ItemFault) in try Unsplash.photo(item, application) }, random: Unsplash.random)
  }
}

private enum Unsplash {
  static let dialect = ProviderDialect(
    name: "unsplash", headers: [HTTPHeader("Accept-Version", "v1")], keyScheme: "Client-ID",
    allowance: { response, date in remaining(response) == 0 ? restOfHour(date) : nil },
    unnamedPause: restOfHour,
    exception: { response in
      switch response.status {
      case 403 where isRateLimit(response): .rateLimited(provider: "unsplash", retryAfter: response.retryAfter)
      case 410: .badRequest(provider: "unsplash", reason: "it treats the words as spam; use other words")
      default: nil
      }
    })

  /// The limit is hourly, and no field contains the end of the hour: on the hour at the latest.
  @Sendable private static func restOfHour(_ date: Date) -> Duration {
    let hour = 3600.0
    return .seconds(hour - date.timeIntervalSince1970.truncatingRemainder(dividingBy: hour))
  }

  private static func remaining(_ response: HTTPResponse) -> Int? {
    response.value(of: "X-Ratelimit-Remaining").flatMap { Int($0) }
  }

  /// An exceeded rate limit is a 403 with plain text, not the documented 429.
  private static func isRateLimit(_ response: HTTPResponse) -> Bool {
    remaining(response) == 0
      || String(decoding: response.body.prefix(4096), as: UTF8.self).contains("Rate Limit")
  }

  /// An empty query returns the newest photos.
  @Sendable static func request(_ page: PhotoService.Page) -> PhotoService.Request {
    if page.isRandom { return ("photos/random", [("count", "\(page.size)")]) }
    let position = [("page", "\(page.number)"), ("per_page", "\(page.size)")]
    return page.text.isEmpty ? ("photos", position) : ("search/photos", [("query", page.text)] + position)
  }

  @Sendable static func content(
    _ json: JSON, _ response: HTTPResponse, _ page: PhotoService.Page
  ) throws(ItemFault) -> PhotoService.Content {
    // One random photo may come without a list.
    if page.isRandom { return (json.list ?? [json], nil, nil) }
    let items = page.text.isEmpty ? try json.list("") : try json.list("results")
    let total = page.text.isEmpty ? response.value(of: "X-Total").flatMap { Int($0) } : json["total"]?.integer
    // Beyond its depth Unsplash reports 0 pages: then only a full page promises more.
    return (items, page.next(after: items, linkedIn: response, pages: json["total_pages"]?.integer), total)
  }

  /// Unsplash returns 30 random photos at a time and may repeat some, so a large request can return fewer.
  @Sendable static func random(_ provider: ServiceProvider, _ count: Int) async throws(ProviderError) -> [Photo] {
    try await provider.collect(count, spareCalls: 3) { (missing) throws(ProviderError) in
      do throws(ProviderError) {
        return try await provider.page(of: PhotoQuery("", pageSize: missing), isRandom: true).photos
      } catch {
        // With no photo to pick from, the response is a 404.
        guard error == .notFound(provider: dialect.name) else { throw error }
        return []
      }
    }
  }

  static func photo(_ item: JSON, _ application: String) throws(ItemFault) -> Photo {
    let (id, size, raw) = (try item.id("id"), try item.size(), try item.url("urls.raw"))
    let username = try item.text("user.username")
    // Watermarked photos of Unsplash+ should not be in the API, but some have been returned.
    guard raw.host()?.lowercased() != "plus.unsplash.com" else {
      throw ItemFault(reason: "it is an Unsplash+ photo, which is not free to use", isMalformed: false)
    }
    func credited(_ link: String) -> URL? {
      item.webURL(link)?.appending(queryItems: [
        URLQueryItem(name: "utm_source", value: application), URLQueryItem(name: "utm_medium", value: "referral"),
      ])
    }
    var photo = Photo(
      id: id, provider: dialect.name, title: item.line("description") ?? item.line("alt_description"), size: size,
      location: .served(PhotoForms(server: .imgix, url: raw)))
    photo.author = item.line("user.name") ?? JSON.line(username)
    photo.authorURL = credited("user.links.html")
    photo.pageURL = credited("links.html")
    photo.attribution = photo.author.map { "Photo by \($0) on Unsplash" } ?? "Photo on Unsplash"
    photo.licence = .unsplash
    photo.downloadLocation = item.webURL("links.download_location")
    return photo
  }
}

extension PhotoLicence {
  static let unsplash = PhotoLicence(name: "Unsplash License", url: URL(string: "https://unsplash.com/license"))
}
