import Foundation
import HTTPTransport

extension PhotoService {
  /// The photos of pexels.com.
  static let pexels = PhotoService(
    dialect: ProviderDialect(
      name: "pexels",
      // The limit is 200 requests an hour; the header fields only report the monthly quota. A burst of 100 and 100 more
      // over the following hour stay within it.
      pace: RequestPace.Rule(interval: .seconds(36), burst: 100),
      allowance: { response, date in
        guard response.value(of: "X-Ratelimit-Remaining").flatMap({ Int($0) }) == 0 else { return nil }
        // The end of the monthly quota's period, in seconds since 1970.
        guard let reset = response.value(of: "X-Ratelimit-Reset").flatMap({ Double($0) }) else { return hour }
        return .seconds(min(max(0, reset - date.timeIntervalSince1970), 1e8))
      },
      unnamedPause: { _ in hour }),
    baseURL: "https://api.pexels.com", largestPage: 80,
    // An empty query returns curated photos.
    request: { page in
      let position = [("page", "\(page.number)"), ("per_page", "\(page.size)")]
      return page.text.isEmpty ? ("v1/curated", position) : ("v1/search", [("query", page.text)] + position)
    },
    content: { (json, _, page) throws(ItemFault) in
      let items = try json.list("photos")
      let total = json["total_results"]?.integer
      // A page may be short before the end of the search: only the total, the link and an empty page mark the end. The
      // link is used only as a flag, because it is wrong (`/v1/v1/search`).
      let isLast = total.map { $0 > 0 && page.number * page.size >= $0 } ?? false
      return (items, page.next(after: items, if: json["next_page"]?.text != nil && !isLast), total)
    },
    photo: { (item) throws(ItemFault) in
      let (id, size, original) = (try item.integer("id"), try item.size(), try item.url("src.original"))
      var photo = Photo(
        id: "\(id)", provider: "pexels", title: item.line("alt"), size: size,
        location: .served(PhotoForms(server: .pexels, url: original)))
      photo.author = item.line("photographer")
      photo.authorURL = item.webURL("photographer_url")
      photo.pageURL = item.webURL("url")
      photo.attribution = photo.author.map { "Photo by \($0) on Pexels" } ?? "Photo on Pexels"
      photo.licence = PhotoLicence(name: "Pexels License", url: URL(string: "https://www.pexels.com/license/"))
      return photo
    })
}

private let hour = Duration.seconds(3600)
