import Foundation
import HTTPTransport

/// The photos of Wikimedia Commons, through its search API. It needs no key, but a `User-Agent` that names a contact.
///
/// Each photo has its own licence: show it with `attribution` and `licence`, linked to `pageURL`.
public struct CommonsProvider: PhotoProvider {
  static let name = "commons"
  /// The most files whose thumbnails one request may name.
  static let largestPage = 50
  /// The width in pixels of the thumbnail URLs requested from the API; those of other steps are derived from them.
  private static let namedWidth = 500
  /// The largest offset of a search; beyond it the API returns an error.
  private static let depth = 10_000
  /// The most consecutive pages without a photo, all their files being of other kinds.
  private static let mostBarrenPages = 5

  /// The default base URL.
  public static let defaultBaseURL = "https://commons.wikimedia.org"

  /// `commons`
  public var name: String { Self.name }
  /// Searches and picks at random, 50 photos a page.
  public var capabilities: ProviderCapabilities {
    ProviderCapabilities(picksRandom: true, largestPageSize: Self.largestPage, mayLoop: true)
  }

  private let api: ProviderAPI

  /// A Commons provider.
  ///
  /// - Parameters:
  ///   - baseURL: The URL of the site, if not Commons' own; may have a path.
  ///   - namesContact: Whether the client's `User-Agent` names a contact. The rate limit is lower without.
  init(
    baseURL: URL, namesContact: Bool = true, client: any HTTPClient, clock: ProviderClock = ProviderClock()
  ) {
    api = ProviderAPI(
      CommonsDialect.dialect(namesContact: namesContact), baseURL: baseURL, client: client, clock: clock)
  }

  /// One page of search results, without files that are no photos. An empty query matches everything.
  public func search(_ query: PhotoQuery, at cursor: PageCursor?) async throws(ProviderError) -> PhotoPage {
    var page = try await page(of: query, at: cursor)
    // A page without photos, only drawings for instance, does not end the search.
    var pagesLeft = Self.mostBarrenPages
    while page.photos.isEmpty, page.skipped.isEmpty, let next = page.next, pagesLeft > 0 {
      pagesLeft -= 1
      page = try await self.page(of: query, at: next)
    }
    return page
  }

  /// Random photos; fewer than requested if many of the picked files are of other kinds.
  public func random(count: Int) async throws(ProviderError) -> [Photo] {
    try await RandomPhotos.collect(count, from: name, calls: max(0, count) / Self.largestPage + 2) {
      (missing) throws(ProviderError) in
      // Requests some more, since not all are photos, and a second call costs as much as the first.
      try await page(of: PhotoQuery("", pageSize: missing + missing / 4 + 1), at: nil, sortedBy: "random").photos
    }
  }

  private func page(
    of query: PhotoQuery, at cursor: PageCursor?, sortedBy order: String? = nil
  ) async throws(ProviderError) -> PhotoPage {
    let words = query.text.trimmingCharacters(in: .whitespacesAndNewlines)
    var parameters = [
      ("action", "query"), ("format", "json"), ("formatversion", "2"), ("generator", "search"),
      ("gsrsearch", words.isEmpty ? "filetype:bitmap" : "\(words) filetype:bitmap"), ("gsrnamespace", "6"),
      ("gsrlimit", "\(min(query.pageSize, Self.largestPage))"), ("prop", "imageinfo"),
      ("iiprop", "url|size|mime|extmetadata"), ("iiurlwidth", "\(Self.namedWidth)"),
      ("iiextmetadatafilter", "LicenseShortName|LicenseUrl|Artist|ObjectName"),
    ]
    if let order { parameters.append(("gsrsort", order)) }
    // A cursor must not override the query's own parameters.
    let known = Set(parameters.map(\.0))
    parameters += try CommonsCursor.parameters(of: cursor).filter { !known.contains($0.name) }
    let response = try await api.decode(CommonsResponse.self, at: try api.url("w/api.php", parameters))
    // The pages of the response are unordered.
    let items = (response.query?.pages ?? []).sorted { Self.place(of: $0) < Self.place(of: $1) }
    let (photos, skipped) = try api.photos(of: items) { (item) throws(ItemFault) in try item.photo() }
    return PhotoPage(photos: photos, next: Self.next(after: response), skipped: skipped)
  }

  private static func next(after response: CommonsResponse) -> PageCursor? {
    guard let repeated = response.continue else { return nil }
    if let offset = repeated["gsroffset"].flatMap({ Int($0.text) }), offset >= depth { return nil }
    return CommonsCursor.cursor(of: repeated)
  }

  private static func place(of item: Lenient<CommonsPage>) -> Int {
    (try? item.result.get().index) ?? .max
  }
}

/// Converts the continuation parameters of the API to cursors and back.
enum CommonsCursor {
  /// The parameters as a cursor, in the form of a URL query.
  static func cursor(of parameters: [String: FlexibleText]) -> PageCursor {
    var components = URLComponents()
    components.queryItems = parameters.sorted { $0.key < $1.key }.map {
      URLQueryItem(name: $0.key, value: $0.value.text)
    }
    return PageCursor(components.percentEncodedQuery ?? "")
  }

  /// The parameters of a cursor; empty for the first page.
  static func parameters(of cursor: PageCursor?) throws(ProviderError) -> [(name: String, value: String)] {
    guard let cursor else { return [] }
    let items = URLComponents(string: "?\(cursor.token)")?.queryItems ?? []
    guard items.contains(where: { $0.name == "continue" }), items.count <= 10,
      items.allSatisfy({ item in item.name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } })
    else { throw .badRequest(provider: CommonsProvider.name, reason: "this page cursor is not one of commons") }
    return items.map { ($0.name, $0.value ?? "") }
  }
}
