import Foundation
import HTTPSemantics
import HTTPTransport

extension PhotoService {
  /// The openly licensed photos of many sites that Openverse indexes.
  static let openverse = PhotoService(
    // Twenty requests a minute without a key.
    dialect: ProviderDialect(
      name: "openverse", pace: RequestPace.Rule(interval: .seconds(3), atOnce: 1), allowance: Openverse.allowance),
    // The largest page without a key; larger ones are refused with a 401.
    baseURL: "https://api.openverse.org", largestPage: 20,
    request: { page in
      let words = page.text.isEmpty ? [] : [("q", page.text)]
      // The trailing slash avoids a redirect.
      return ("v1/images/", words + [("page", "\(page.number)"), ("page_size", "\(page.size)")])
    },
    content: { (json, _, page) throws(ItemFault) in
      let items = try json.list("results")
      // A page may be short before the end of the search, because dead links are filtered out.
      let hasNext = page.number < json["page_count"]?.integer ?? 0
      return (items, page.next(after: items, if: hasNext), json["result_count"]?.integer)
    },
    photo: Openverse.photo)
}

private enum Openverse {
  private static let allowancePrefix = "x-ratelimit-available-"

  /// Each of several scopes has a limit, and its header fields end in the scope's name: `X-RateLimit-Limit-anon_burst:
  /// 20/min` and `X-RateLimit-Available-anon_burst: 19`.
  @Sendable static func allowance(_ response: HTTPResponse, _ date: Date) -> Duration? {
    response.headers.compactMap { header -> Duration? in
      let name = header.name.lowercased()
      guard name.hasPrefix(allowancePrefix), let count = Int(header.value), count <= 0 else { return nil }
      let limit = response.value(of: "x-ratelimit-limit-\(name.dropFirst(allowancePrefix.count))")
      return switch limit?.split(separator: "/").last?.first {
      case "s": .seconds(1)
      case "h": .seconds(3600)
      case "d": .seconds(86_400)
      default: .seconds(60)
      }
    }.max()
  }

  @Sendable static func photo(_ item: JSON) throws(ItemFault) -> Photo {
    let (id, original, licence) = (try item.id("id"), try item.url("url"), try item.text("license"))
    var photo = Photo(
      id: id, provider: "openverse", title: item.line("title"), size: try? item.size(),
      location: .served(PhotoForms(server: .openverse, url: item.webURL("thumbnail") ?? original, original: original)))
    photo.author = item.line("creator")
    photo.authorURL = item.webURL("creator_url")
    photo.pageURL = item.webURL("foreign_landing_url")
    let name = name(of: licence, version: item["license_version"]?.text)
    photo.licence = PhotoLicence(name: name, url: item.webURL("license_url"))
    let work = [photo.title.map { "“\($0)”" }, photo.author.map { "by \($0)" }].compactMap(\.self)
    photo.attribution = ([work.joined(separator: " "), name, "via Openverse"].filter { !$0.isEmpty })
      .joined(separator: ", ")
    return photo
  }

  /// The licence as Creative Commons writes it: `CC BY-SA 2.0` for `by-sa` and `2.0`.
  private static func name(of licence: String, version: String?) -> String {
    let name =
      switch licence.lowercased() {
      case "pdm": "Public Domain Mark"
      case "cc0": "CC0"
      case let code: "CC \(code.uppercased())"
      }
    return JSON.line("\(name) \(version ?? "")") ?? name
  }
}
