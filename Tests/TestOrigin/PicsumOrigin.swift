import Foundation

extension PhotoServiceOrigin {
  /// A fake of Lorem Picsum. Like the real one it always links to a second page on the first one, and redirects to the
  /// image in the requested size.
  public static func picsum(_ pictures: [OriginPicture]) throws -> PhotoServiceOrigin {
    try PhotoServiceOrigin(isAPI: { $0 == "/v2/list" }) { request in
      let parts = request.path.split(separator: "/").map(String.init)
      if request.path == "/v2/list" { return picsumPage(of: pictures, request) }
      guard parts.count == 4, let picture = pictures.first(where: { $0.id == parts[1] }) else { return .status(404) }
      if parts[0] == "id" { return .redirect(to: "/fastly/\(parts[1])/\(parts[2])/\(parts[3])?hmac=t") }
      return .ok(picture.body, type: picture.type).header("Cache-Control", "public, max-age=2592000, immutable")
    }
  }

  private static func picsumPage(of pictures: [OriginPicture], _ request: OriginRequest) -> OriginResponse {
    let page = NumberedPage(
      of: pictures, number: request.query["page"], size: request.query["limit"], standardSize: 30, largestSize: 100)
    let items = page.items.map { picture -> [String: Any] in
      [
        "id": picture.id, "author": "Test E", "width": picture.width, "height": picture.height,
        "url": "https://unsplash.com/photos/\(picture.id)",
        "download_url": "\(request.server)/id/\(picture.id)/\(picture.width)/\(picture.height)",
      ]
    }
    var links: [String] = []
    if page.number > 1 { links.append("<\(request.server)/v2/list?page=\(page.number - 1)>; rel=\"prev\"") }
    if page.number == 1 || page.number < page.pages {
      links.append("<\(request.server)/v2/list?page=\(page.number + 1)>; rel=\"next\"")
    }
    let response = OriginResponse.object(items)
    return links.isEmpty ? response : response.header("Link", links.joined(separator: ", "))
  }
}
