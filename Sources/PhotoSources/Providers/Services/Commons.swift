import Foundation
import HTTPTransport

extension PhotoService {
  /// The photos of Wikimedia Commons.
  ///
  /// - Parameter namesContact: Whether the client's `User-Agent` names a contact: then 200 requests a minute, one at a
  ///   time; otherwise 10, as a burst of four and six more within the minute.
  static func commons(namesContact: Bool = true) -> PhotoService {
    let pace =
      namesContact
      ? RequestPace.Rule(interval: .milliseconds(300), atOnce: 1)
      : RequestPace.Rule(interval: .seconds(10), burst: 4, atOnce: 1)
    return PhotoService(
      dialect: ProviderDialect(
        name: Commons.name, pace: pace, exception: { Commons.exception($0, namesContact: namesContact) }),
      // The most files whose thumbnails one request may name.
      baseURL: "https://commons.wikimedia.org", largestPage: 50, numbersPages: false, mostBarrenPages: 5,
      request: Commons.request, content: Commons.content, photo: Commons.photo, random: Commons.random)
  }
}

private enum Commons {
  static let name = "commons"
  /// The width in pixels of the thumbnail URLs requested from the API; those of other steps are derived from them.
  private static let namedWidth = 500
  /// The largest offset of a search; beyond it the API returns an error.
  private static let depth = 10_000
  /// The accepted types; the search returns TIFF and GIF, too.
  private static let kinds: Set<String> = ["image/jpeg", "image/png", "image/webp"]

  // MARK: Errors

  static func exception(_ response: HTTPResponse, namesContact: Bool) -> ProviderError? {
    // This error comes as a 429 with `Retry-After`, but a retry never succeeds.
    if response.status >= 400, String(decoding: response.body.prefix(16384), as: UTF8.self).contains("w.wiki/GHai") {
      return .badRequest(provider: name, reason: "it has no thumbnails of that width")
    }
    switch response.status {
    case 200..<300: return fault(in: response)
    case 403 where !namesContact:
      return .blocked(
        provider: name,
        reason: "it wants a User-Agent with a contact, such as 'thumbs/1 (you@example.org)' (userAgent)")
    default: return nil
    }
  }

  /// API errors have the status 200.
  private static func fault(in response: HTTPResponse) -> ProviderError? {
    guard let error = JSON(response.body)?["error"], let code = error["code"]?.text else { return nil }
    let reason = Snippet.line(HTMLText.plain(error["info"]?.text ?? code))
    switch code {
    case "ratelimited", "maxlag": return .rateLimited(provider: name, retryAfter: response.retryAfter)
    case "readonly": return .unreachable(provider: name, reason: reason)
    case _ where code.hasPrefix("internal_api_error") || isTrouble(code):
      return .unreachable(provider: name, reason: reason)
    case _ where code.contains("blocked"): return .blocked(provider: name, reason: reason)
    default: return .badRequest(provider: name, reason: reason)
    }
  }

  /// Whether the search service has failed. Other error codes concern the query, such as too many words.
  private static func isTrouble(_ code: String) -> Bool {
    code.hasPrefix("cirrussearch-") && ["busy", "backend", "timeout"].contains { code.contains($0) }
  }

  // MARK: Pages

  @Sendable static func request(_ page: PhotoService.Page) throws(ProviderError) -> PhotoService.Request {
    var parameters = [
      ("action", "query"), ("format", "json"), ("formatversion", "2"), ("generator", "search"),
      ("gsrsearch", page.text.isEmpty ? "filetype:bitmap" : "\(page.text) filetype:bitmap"), ("gsrnamespace", "6"),
      ("gsrlimit", "\(page.size)"), ("prop", "imageinfo"), ("iiprop", "url|size|mime|extmetadata"),
      ("iiurlwidth", "\(namedWidth)"), ("iiextmetadatafilter", "LicenseShortName|LicenseUrl|Artist|ObjectName"),
    ]
    if page.isRandom { parameters.append(("gsrsort", "random")) }
    // A cursor must not override the query's own parameters.
    let known = Set(parameters.map(\.0))
    return ("w/api.php", parameters + (try Self.parameters(of: page.cursor)).filter { !known.contains($0.name) })
  }

  @Sendable static func content(
    _ json: JSON, _ response: HTTPResponse, _ page: PhotoService.Page
  ) throws(ItemFault) -> PhotoService.Content {
    // Without `query` nothing was found. The pages of the response are unordered.
    let items = json["query"] == nil ? [] : try json.list("query.pages")
    let sorted = items.sorted { ($0["index"]?.integer ?? .max) < ($1["index"]?.integer ?? .max) }
    guard case .object(let repeated)? = json["continue"] else { return (sorted, nil, nil) }
    if let offset = repeated["gsroffset"]?.flexibleText.flatMap({ Int($0) }), offset >= depth {
      return (sorted, nil, nil)
    }
    return (sorted, cursor(of: repeated), nil)
  }

  /// The parameters to repeat in the request for the next page, as a URL query.
  private static func cursor(of parameters: [String: JSON]) -> PageCursor {
    var components = URLComponents()
    components.queryItems = parameters.sorted { $0.key < $1.key }
      .map { URLQueryItem(name: $0.key, value: $0.value.flexibleText) }
    return PageCursor(components.percentEncodedQuery ?? "")
  }

  /// The parameters of a cursor; empty for the first page.
  private static func parameters(of cursor: PageCursor?) throws(ProviderError) -> [(name: String, value: String)] {
    guard let cursor else { return [] }
    let items = URLComponents(string: "?\(cursor.token)")?.queryItems ?? []
    guard items.contains(where: { $0.name == "continue" }), items.count <= 10,
      items.allSatisfy({ item in item.name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } })
    else { throw .badRequest(provider: name, reason: "this page cursor is not one of commons") }
    return items.map { ($0.name, $0.value ?? "") }
  }

  /// Fewer than requested if many of the picked files are of other kinds.
  @Sendable static func random(_ provider: ServiceProvider, _ count: Int) async throws(ProviderError) -> [Photo] {
    try await provider.collect(count, spareCalls: 2) { (missing) throws(ProviderError) in
      // Requests some more, because not all are photos, and a second call costs as much as the first.
      try await provider.page(of: PhotoQuery("", pageSize: missing + missing / 4 + 1), isRandom: true).photos
    }
  }

  // MARK: Photos

  /// Nil for a file of another kind, or one whose data come with a later response, because this one was too long.
  @Sendable static func photo(_ item: JSON) throws(ItemFault) -> Photo? {
    let (id, file) = (try item.integer("pageid"), try item.text("title"))
    guard item["imageinfo"] != nil, let image = try item.list("imageinfo").first else { return nil }
    if let mime = image["mime"]?.text, !kinds.contains(mime.lowercased()) { return nil }
    let (size, original) = (try image.size(), try image.url("url"))
    func field(_ name: String) -> String? { image["extmetadata.\(name).value"]?.flexibleText }
    let thumbnail = image.webURL("thumburl") ?? original
    var photo = Photo(
      id: "\(id)", provider: name, title: JSON.line(field("ObjectName")) ?? title(of: file), size: size,
      location: .served(PhotoForms(server: .commons, url: thumbnail, original: original)))
    photo.author = JSON.line(field("Artist"))
    photo.authorURL = JSON.webURL(field("Artist").flatMap(HTMLText.firstLink))
    photo.pageURL = image.webURL("descriptionurl")
    photo.licence = JSON.line(field("LicenseShortName"))
      .map { PhotoLicence(name: $0, url: JSON.webURL(field("LicenseUrl"))) }
    photo.attribution = [photo.author, photo.licence?.name, "via Wikimedia Commons"].compactMap(\.self)
      .joined(separator: ", ")
    return photo
  }

  /// `File:Test lake.jpg` without prefix and extension.
  private static func title(of file: String) -> String? {
    let name = file.hasPrefix("File:") ? file.dropFirst(5) : file[...]
    return JSON.line(String(name.lastIndex(of: ".").map { name[..<$0] } ?? name))
  }
}
