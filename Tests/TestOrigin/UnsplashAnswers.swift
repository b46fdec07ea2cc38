import Foundation
import Synchronization

/// The handler of a fake of Unsplash's API.
final class UnsplashAnswers: Sendable {
  private struct State {
    var remaining: Int
    var answers = 0
    var faults: [OriginResponse] = []
  }

  let accessKey: String
  private let pictures: [UnsplashOrigin.Picture]
  private let hourlyLimit: Int
  private let mostPerPage: Int
  private let state: Mutex<State>

  init(pictures: [UnsplashOrigin.Picture], accessKey: String, hourlyLimit: Int, perPage: Int) {
    self.pictures = pictures
    self.accessKey = accessKey
    self.hourlyLimit = hourlyLimit
    mostPerPage = perPage
    state = Mutex(State(remaining: hourlyLimit))
  }

  /// Sends these responses before any other.
  func fail(with responses: [OriginResponse]) { state.withLock { $0.faults += responses } }

  func response(to request: OriginRequest) -> OriginResponse {
    let path = request.path.split(separator: "/").map(String.init)
    if path.first == "images", path.count == 2 { return image(named: path[1]) }
    if let fault = state.withLock({ $0.faults.isEmpty ? nil : $0.faults.removeFirst() }) { return fault }
    guard request.value(of: "Authorization") == "Client-ID \(accessKey)" else {
      return errors(401, "OAuth error: The access token is invalid")
    }
    let remaining = state.withLock { state -> Int? in
      guard state.remaining > 0 else { return nil }
      state.remaining -= 1
      return state.remaining
    }
    let limits = [("X-Ratelimit-Limit", "\(hourlyLimit)"), ("X-Ratelimit-Remaining", "\(remaining ?? 0)")]
    var response = remaining == nil ? .status(403, "Rate Limit Exceeded") : answer(to: request, at: path)
    for (name, value) in limits { response = response.header(name, value) }
    return response
  }

  private func answer(to request: OriginRequest, at path: [String]) -> OriginResponse {
    switch path {
    case ["search", "photos"]:
      guard let query = request.query["query"], !query.isEmpty else { return errors(400, "query is missing") }
      if query == "spam" { return errors(410, "This query has been flagged as spam") }
      return page(of: pictures.matching(query), for: request, isSearch: true)
    case ["photos"]:
      return page(of: pictures, for: request, isSearch: false)
    case ["photos", "random"]:
      return random(for: request)
    case _ where path.count == 3 && path[0] == "photos" && path[2] == "download":
      return .object(["url": "http://\(host(request))/images/\(path[1])"])
    default:
      return errors(404, "Couldn't find the page")
    }
  }

  private func page(of found: [UnsplashOrigin.Picture], for request: OriginRequest, isSearch: Bool) -> OriginResponse {
    let query = request.query
    let perPage = min(max(query["per_page"].flatMap { Int($0) } ?? 10, 1), mostPerPage)
    let page = max(query["page"].flatMap { Int($0) } ?? 1, 1)
    let pages = (found.count + perPage - 1) / perPage
    let items = found.dropFirst((page - 1) * perPage).prefix(perPage).map { item($0, for: request) }
    let isBeyond = page > max(pages, 1)
    let total = isBeyond ? 0 : found.count
    let search: [String: Any] = ["total": total, "total_pages": isBeyond ? 0 : pages, "results": items]
    var response = OriginResponse.object(isSearch ? search as Any : items)
    let targets = [("first", 1), ("prev", page - 1), ("last", pages), ("next", page + 1)]
    let links = targets.filter { name, target in
      (name == "first" || name == "prev") ? page > 1 : page < pages && target <= pages
    }.map { name, target in "<\(link(request, page: target))>; rel=\"\(name)\"" }
    if !links.isEmpty { response = response.header("Link", links.joined(separator: ", ")) }
    return response.header("X-Total", "\(total)").header("X-Per-Page", "\(perPage)")
  }

  /// A single object without `count`, a list with it, and a 404 if there are no photos.
  private func random(for request: OriginRequest) -> OriginResponse {
    let found = request.query["query"].map { pictures.matching($0) } ?? pictures
    if found.isEmpty { return errors(404, "No photos found.") }
    guard let count = request.query["count"].flatMap({ Int($0) }) else {
      return .object(item(found.randomElement() ?? found[0], for: request))
    }
    return .object(found.shuffled().prefix(min(max(count, 1), 30)).map { item($0, for: request) })
  }

  private func image(named name: String) -> OriginResponse {
    guard let picture = pictures.first(where: { name == "photo-\($0.id)" }) else { return .status(404, "Not Found") }
    return .ok(picture.body, type: picture.type)
      .header("Cache-Control", "public, max-age=31536000")
      .header("Last-Modified", "Sun, 01 Jan 2023 00:00:00 GMT")
  }

  private func item(_ picture: UnsplashOrigin.Picture, for request: OriginRequest) -> [String: Any] {
    let base = "http://\(host(request))"
    let number = state.withLock { state in
      state.answers += 1
      return state.answers
    }
    let ixid = "ixid=T\(number)"
    let image = "\(base)/images/photo-\(picture.id)?"
    let user = "\(base)/users/tester"
    return [
      "id": picture.id, "width": picture.width, "height": picture.height, "color": "#26402c",
      "blur_hash": NSNull(), "description": NSNull(), "alt_description": picture.description,
      "asset_type": "photo",
      "urls": [
        "raw": "\(image)\(ixid)&ixlib=rb-4.1.0", "full": "\(image)fm=jpg&\(ixid)&q=85",
        "regular": "\(image)fm=jpg&w=1080&fit=max&\(ixid)&q=80", "small": "\(image)fm=jpg&w=400&fit=max&\(ixid)&q=80",
        "thumb": "\(image)fm=jpg&w=200&fit=max&\(ixid)&q=80",
      ],
      "links": [
        "self": "\(base)/photos/\(picture.id)", "html": "https://unsplash.com/photos/\(picture.id)",
        "download": "https://unsplash.com/photos/\(picture.id)/download",
        "download_location": "\(base)/photos/\(picture.id)/download?\(ixid)",
      ],
      "user": [
        "id": "u1", "username": "tester", "name": "Test Er", "first_name": "Test", "last_name": NSNull(),
        "links": ["self": user, "html": "https://unsplash.com/@tester", "photos": "\(user)/photos"],
      ],
    ]
  }

  private func link(_ request: OriginRequest, page: Int) -> String {
    var items = request.query
    items["page"] = "\(page)"
    var components = URLComponents()
    components.path = request.path
    components.queryItems = items.sorted { $0.key < $1.key }.map { URLQueryItem(name: $0.key, value: $0.value) }
    return "https://api.unsplash.com\(components.string ?? "")"
  }

  private func host(_ request: OriginRequest) -> String { request.value(of: "Host") ?? "127.0.0.1" }

  private func errors(_ status: Int, _ texts: String...) -> OriginResponse {
    var response = OriginResponse.object(["errors": texts])
    response.status = status
    return response
  }
}
