import Foundation

extension PhotoServiceOrigin {
  /// A fake of Openverse's API. Like the real one it returns at most 20 photos a page, refuses larger pages with a 401,
  /// filters dead links out of pages, ends the names of its rate limit fields in the scope, and responds with 424 if
  /// its thumbnail proxy fails.
  ///
  /// - Parameters:
  ///   - dead: The ids of photos that are filtered out of their pages.
  ///   - withoutThumbnail: The ids of photos whose thumbnail fails.
  ///   - available: The number of requests left in the minute, as reported in every response.
  public static func openverse(
    _ pictures: [OriginPicture], dead: Set<String> = [], withoutThumbnail: Set<String> = [], available: Int = 19
  ) throws -> PhotoServiceOrigin {
    try PhotoServiceOrigin(isAPI: { $0.hasPrefix("/v1/images") && !$0.hasSuffix("/thumb/") }) { request in
      let parts = request.path.split(separator: "/").map(String.init)
      if request.path == "/v1/images/" {
        return openversePage(of: pictures, dead, request)
          .header("X-RateLimit-Limit-anon_burst", "20/min")
          .header("X-RateLimit-Available-anon_burst", "\(available)")
          .header("X-RateLimit-Limit-anon_sustained", "200/day")
          .header("X-RateLimit-Available-anon_sustained", "150")
      }
      if parts == ["v1", "images"] { return .redirect(to: "/v1/images/", status: 301) }
      if parts.count == 4, parts[3] == "thumb" {
        guard let picture = pictures.first(where: { $0.id == parts[2] }) else { return .status(404) }
        if request.value(of: "Accept") == "image/*" { return .status(406) }
        if withoutThumbnail.contains(picture.id) { return .object(["detail": "Could not get the image"], status: 424) }
        return .ok(picture.body, type: picture.type)
      }
      let id = parts.last?.split(separator: ".").first.map(String.init)
      guard parts.first == "original", let picture = pictures.first(where: { $0.id == id }) else { return .status(404) }
      return .ok(picture.body, type: picture.type)
    }
  }

  private static func openversePage(
    of pictures: [OriginPicture], _ dead: Set<String>, _ request: OriginRequest
  ) -> OriginResponse {
    if let size = request.query["page_size"].flatMap({ Int($0) }), size > 20 {
      return .object(["detail": "page_size may not exceed 20 for anonymous requests"], status: 401)
    }
    let found = pictures.matching(request.query["q"] ?? "")
    let page = NumberedPage(
      of: Array(found.prefix(240)), number: request.query["page"], size: request.query["page_size"], standardSize: 20,
      largestSize: 20)
    let items = page.items.filter { !dead.contains($0.id) }.map { picture -> [String: Any] in
      [
        "id": picture.id, "title": "<i>\(picture.description)</i>",
        "url": "\(request.server)/original/\(picture.id).jpg",
        "thumbnail": "\(request.server)/v1/images/\(picture.id)/thumb/",
        "foreign_landing_url": "https://www.flickr.com/photos/x/\(picture.id)", "creator": "Test D",
        "creator_url": NSNull(), "license": "by-sa", "license_version": "2.0",
        "license_url": "https://creativecommons.org/licenses/by-sa/2.0/", "provider": "flickr", "category": NSNull(),
        "filetype": NSNull(), "width": picture.width, "height": picture.height, "mature": false,
        "attribution": "\"\(picture.description)\" is licensed under CC BY-SA 2.0.",
      ]
    }
    return .object([
      "result_count": min(found.count, 240), "page_count": page.pages, "page_size": page.size, "page": page.number,
      "results": items,
    ])
  }
}
