import Foundation

extension PhotoServiceOrigin {
  /// A fake of Wikimedia Commons' search API. Like the real one it returns the files of a page unordered, omits `query`
  /// without results, reports errors with the status 200, and serves thumbnails of certain widths only.
  ///
  /// - Parameter refusesOriginals: Whether requests for original files get a 429.
  public static func commons(_ pictures: [OriginPicture], refusesOriginals: Bool = false) throws -> PhotoServiceOrigin {
    try PhotoServiceOrigin(isAPI: { $0 == "/w/api.php" }) { request in
      request.path == "/w/api.php"
        ? commonsPage(of: pictures, request) : commonsFile(of: pictures, request, refusesOriginals)
    }
  }

  /// The supported widths of thumbnails.
  private static let widths = [20, 40, 60, 120, 250, 330, 500, 960, 1280, 1920, 3840]

  /// The response to a request for a thumbnail of an unsupported width.
  public static let unlistedWidth = OriginResponse.status(
    429, "Use thumbnail steps listed on https://w.wiki/GHai (and see the policy there)"
  ).header("Retry-After", "10")

  /// A possible response to a client without a contact in its `User-Agent`.
  public static let tooManyRequestsPage = OriginResponse(
    status: 429, headers: [("Content-Type", "text/html"), ("Retry-After", "7")],
    body: Array(
      "<!DOCTYPE html><html><head><title>Wikimedia Error</title></head><body>Too many requests</body></html>".utf8))

  private static func commonsPage(of pictures: [OriginPicture], _ request: OriginRequest) -> OriginResponse {
    let query = request.query
    func fault(_ code: String, _ info: String) -> OriginResponse {
      .object(["error": ["code": code, "info": info, "docref": "See the documentation"]])
        .header("MediaWiki-API-Error", code)
    }
    guard query["action"] == "query", query["formatversion"] == "2", query["generator"] == "search" else {
      return fault("badvalue", "Unrecognized value for parameter")
    }
    guard let search = query["gsrsearch"], !search.isEmpty else {
      return fault("missingparam", "The \"gsrsearch\" parameter must be set.")
    }
    let limit = query["gsrlimit"].flatMap { Int($0) } ?? 10
    guard (1...50).contains(limit) else { return fault("toomanyvalues", "Too many scaled images") }
    let words = search.split(separator: " ").filter { $0 != "filetype:bitmap" }.joined(separator: " ")
    let found = pictures.matching(words)
    let offset = query["continue"] == "gsroffset||" ? query["gsroffset"].flatMap { Int($0) } ?? 0 : 0
    let items = found.enumerated().dropFirst(offset).prefix(limit)
    var answer: [String: Any] = ["batchcomplete": true]
    if offset + limit < found.count {
      answer["continue"] = ["gsroffset": offset + limit, "continue": "gsroffset||"] as [String: Any]
    }
    if !items.isEmpty {
      answer["query"] = ["pages": items.reversed().map { commonsItem($1, index: $0 + 1, request) }]
    }
    return .object(answer)
  }

  private static func commonsItem(_ picture: OriginPicture, index: Int, _ request: OriginRequest) -> [String: Any] {
    let name = "Test_\(picture.id).jpg"
    let url = "\(request.server)/wikipedia/commons/a/ab/\(name)"
    let width = request.query["iiurlwidth"].flatMap { Int($0) } ?? 500
    let thumbnail =
      width >= picture.width
      ? url
      : "\(request.server)/thumb/a/ab/\(name)/\(width)px-\(name)?utm_source=commons.wikimedia.org&utm_campaign=api"
    return [
      "pageid": Int(picture.id) ?? 0, "ns": 6, "title": "File:\(picture.description).jpg", "index": index,
      "imageinfo": [
        [
          "size": picture.body.count, "width": picture.width, "height": picture.height, "thumburl": thumbnail,
          "thumbwidth": min(width, picture.width), "url": url,
          "descriptionurl": "https://commons.wikimedia.org/wiki/File:\(name)", "mime": picture.type,
          "extmetadata": [
            "LicenseShortName": ["value": "CC BY-SA 4.0", "source": "commons-desc-page"],
            "LicenseUrl": ["value": "https://creativecommons.org/licenses/by-sa/4.0"],
            "Artist": [
              "value":
                "<a href=\"//commons.wikimedia.org/wiki/User:B\" title=\"User:B\"><b>Test</b>&nbsp;B &amp; Co</a>"
                + "<div style=\"display: none;\">creator QS:P170,Q4233718</div>"
            ],
            "ObjectName": ["value": Int(picture.description).map { $0 as Any } ?? picture.description],
          ],
        ] as [String: Any]
      ],
    ]
  }

  private static func commonsFile(
    of pictures: [OriginPicture], _ request: OriginRequest, _ refusesOriginals: Bool
  ) -> OriginResponse {
    let parts = request.path.split(separator: "/").map(String.init)
    guard let last = parts.last else { return .status(404) }
    if parts.first == "thumb" {
      let width = last.firstRange(of: "px-").flatMap { Int(last[..<$0.lowerBound]) }
      guard let width, widths.contains(width) else { return unlistedWidth }
    } else if refusesOriginals {
      return tooManyRequestsPage
    }
    let id = last.split(separator: "_").last?.split(separator: ".").first.map(String.init)
    guard let picture = pictures.first(where: { $0.id == id }) else { return .status(404) }
    return .ok(picture.body, type: picture.type).header("ETag", "\"\(picture.id)\"")
  }
}
