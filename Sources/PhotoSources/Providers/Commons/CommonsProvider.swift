import Foundation
import HTTPTransport

/// The photos of Wikimedia Commons, through its search. It needs no key, but a `User-Agent` that names a contact.
///
/// Each photo has a licence of its own: it is to be shown with `attribution` and `licence`, linked to `pageURL`.
public struct CommonsProvider: PhotoProvider {
  static let name = "commons"
  /// The most files whose thumbnails one request may ask for.
  static let largestPage = 50
  /// The width in pixels of the thumbnails that the API is asked to name; the other steps follow from it.
  private static let namedWidth = 500
  /// A search has no files beyond this many; who asks for them gets an error.
  private static let depth = 10_000
  /// So many pages in a row may hold nothing but files of other kinds.
  private static let mostBarrenPages = 5

  /// Where the API is.
  public static let defaultBaseURL = "https://commons.wikimedia.org"

  /// `commons`
  public var name: String { Self.name }
  /// Searches and picks at random, 50 photos a page.
  public var capabilities: ProviderCapabilities {
    ProviderCapabilities(searches: true, picksRandom: true, largestPageSize: Self.largestPage, mayRunInCircles: true)
  }

  private let api: ProviderAPI

  /// A provider.
  ///
  /// - Parameters:
  ///   - baseURL: The site's address, when it is not Commons' own; it may have a path.
  ///   - namesContact: Whether the client's `User-Agent` names a contact. Commons takes fewer requests without.
  init(
    baseURL: URL, namesContact: Bool = true, client: any HTTPClient, clock: ProviderClock = ProviderClock()
  ) {
    api = ProviderAPI(
      CommonsDialect.dialect(namesContact: namesContact), baseURL: baseURL, client: client, clock: clock)
  }

  /// One page of what Commons finds, without the files that are no photos. Without words, of everything there is.
  public func search(_ query: PhotoQuery, at cursor: PageCursor?) async throws(ProviderError) -> PhotoPage {
    var page = try await page(of: query, at: cursor)
    // Not the end of the search: there was nothing but drawings and the like.
    var pagesLeft = Self.mostBarrenPages
    while page.photos.isEmpty, page.skipped.isEmpty, let next = page.next, pagesLeft > 0 {
      pagesLeft -= 1
      page = try await self.page(of: query, at: next)
    }
    return page
  }

  /// Photos by chance; fewer than asked for where Commons picks many files of other kinds.
  public func random(count: Int) async throws(ProviderError) -> [Photo] {
    try await RandomPhotos.collect(count, from: name, calls: max(0, count) / Self.largestPage + 2) {
      (missing) throws(ProviderError) in
      // Some more, since not all are photos: a second call for the last few would take as long as the first.
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
    // A cursor cannot change what is asked for.
    let known = Set(parameters.map(\.0))
    parameters += try CommonsCursor.parameters(of: cursor).filter { !known.contains($0.name) }
    let answer = try await api.decode(CommonsResponse.self, at: try api.url("w/api.php", parameters))
    // They come in any order.
    let items = (answer.query?.pages ?? []).sorted { Self.place(of: $0) < Self.place(of: $1) }
    let (photos, skipped) = try PhotoItems.photos(of: items, from: name, largestPage: Self.largestPage) {
      (item) throws(ItemFault) in
      try item.photo()
    }
    return PhotoPage(photos: photos, next: Self.next(after: answer), skipped: skipped)
  }

  private static func next(after answer: CommonsResponse) -> PageCursor? {
    guard let repeated = answer.continue else { return nil }
    if let offset = repeated["gsroffset"].flatMap({ Int($0.text) }), offset >= depth { return nil }
    return CommonsCursor.cursor(of: repeated)
  }

  private static func place(of item: Lenient<CommonsPage>) -> Int {
    (try? item.result.get().index) ?? .max
  }
}

/// Turns what Commons wants repeated for the next page into a cursor and back.
enum CommonsCursor {
  /// The cursor of the parameters, as the query of a URL.
  static func cursor(of parameters: [String: FlexibleText]) -> PageCursor {
    var components = URLComponents()
    components.queryItems = parameters.sorted { $0.key < $1.key }.map {
      URLQueryItem(name: $0.key, value: $0.value.text)
    }
    return PageCursor(components.percentEncodedQuery ?? "")
  }

  /// The parameters of a cursor; none for the first page.
  static func parameters(of cursor: PageCursor?) throws(ProviderError) -> [(name: String, value: String)] {
    guard let cursor else { return [] }
    let items = URLComponents(string: "?\(cursor.token)")?.queryItems ?? []
    guard items.contains(where: { $0.name == "continue" }), items.count <= 10,
      items.allSatisfy({ item in item.name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } })
    else { throw .badRequest(provider: CommonsProvider.name, reason: "this page cursor is not one of commons") }
    return items.map { ($0.name, $0.value ?? "") }
  }
}
