import Foundation

extension PhotoServiceOrigin {
  /// A fake of Pexels' API. Like the real one it links to `/v1/v1/search` for the next page, which does not exist, and
  /// may return a short page before the end of a search.
  ///
  /// - Parameters:
  ///   - shortPage: The number of a page that lacks its last photo.
  ///   - remaining: The rest of the monthly quota, as reported in every response.
  public static func pexels(
    _ pictures: [OriginPicture], accessKey: String = "test-access-key", shortPage: Int? = nil, remaining: Int = 19_000
  ) throws -> PhotoServiceOrigin {
    try PhotoServiceOrigin(isAPI: { $0.hasPrefix("/v1/") }) { request in
      if request.path.hasPrefix("/photos/") {
        let id = request.path.split(separator: "/").dropFirst().first.map(String.init)
        guard let picture = pictures.first(where: { $0.id == id }) else { return .status(404) }
        return .ok(picture.body, type: picture.type)
      }
      guard request.value(of: "Authorization") == accessKey else {
        return .object(
          ["code": "Unauthorized", "message": "Invalid API key", "status": 401] as [String: Any], status: 401)
      }
      let found: [OriginPicture]
      switch request.path {
      case "/v1/search":
        guard let query = request.query["query"], !query.isEmpty else {
          return .object(["code": "Bad Request", "error": "query is missing"], status: 400)
        }
        found = pictures.matching(query)
      case "/v1/curated": found = pictures
      default: return .object(["code": "Not Found", "error": "no such endpoint"], status: 404)
      }
      let page = NumberedPage(
        of: found, number: request.query["page"], size: request.query["per_page"], standardSize: 15, largestSize: 80)
      let items = page.number == shortPage ? page.items.dropLast() : page.items
      var answer: [String: Any] = [
        "page": page.number, "per_page": page.size, "total_results": found.count,
        "photos": items.map { item($0, request) },
      ]
      if page.number < page.pages {
        answer["next_page"] = "\(request.server)/v1\(request.path)?page=\(page.number + 1)&per_page=\(page.size)"
      }
      return .object(answer).header("X-Ratelimit-Limit", "20000").header("X-Ratelimit-Remaining", "\(remaining)")
        // Real time: only has to be later.
        .header("X-Ratelimit-Reset", "\(Int(Date().timeIntervalSince1970) + 7200)")
    }
  }

  private static func item(_ picture: OriginPicture, _ request: OriginRequest) -> [String: Any] {
    let image = "\(request.server)/photos/\(picture.id)/a.jpeg"
    return [
      "id": Int(picture.id) ?? 0, "width": picture.width, "height": picture.height,
      "url": "https://www.pexels.com/photo/\(picture.id)/", "photographer": "Test C",
      "photographer_url": "https://www.pexels.com/@c", "avg_color": "#556677", "alt": picture.description,
      "src": ["original": image, "medium": "\(image)?auto=compress&cs=tinysrgb&h=350"], "liked": false,
    ]
  }
}
