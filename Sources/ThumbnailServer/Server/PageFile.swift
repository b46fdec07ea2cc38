import CGalleryPage
import Foundation
import HTTPServer
import NIOHTTP1

/// A file of the gallery's page, embedded in the program.
struct PageFile: Sendable {
  private let type: String
  private let tag: String
  private let bytes: Data

  private static let types = [
    "css": "text/css; charset=utf-8", "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
  ]

  private static let all: [String: PageFile] = {
    var files: [String: PageFile] = [:]
    for index in 0..<gallery_page_file_count() {
      let file = gallery_page_file_at(index)
      let name = String(cString: file.name)
      let type = types[String(name.split(separator: ".").last ?? "")] ?? ""
      var data = Data(String(cString: file.text).utf8)
      if type.hasPrefix("text/javascript") { data = compacted(data) }
      files[name] = PageFile(type: type, tag: EntityTag.of(data), bytes: data)
    }
    return files
  }()

  /// A script without its lines of comments, a quarter of its bytes, empty lines, indentation, line breaks that end
  /// nothing, and spaces around operators: no text in it has more than one line, or such an operator.
  private static func compacted(_ script: Data) -> Data {
    var isInComment = false
    let lines = script.split(separator: UInt8(ascii: "\n")).compactMap { line in
      let text = line.drop { $0 == UInt8(ascii: " ") }
      if text.starts(with: "/**".utf8) { isInComment = true }
      defer { if isInComment, line.suffix(2).elementsEqual("*/".utf8) { isInComment = false } }
      return isInComment || text.starts(with: "//".utf8) ? nil : text
    }
    let text = String(decoding: Data(lines.joined(separator: "\n".utf8)), as: UTF8.self)
    return Data(text.replacingOccurrences(of: spare, with: "$1", options: .regularExpression).utf8)
  }

  /// What is left out, but for the operator.
  private static let spare = #"(?<=[;{(\[,])\n|(?<=[)\w]) (?=\{)|(?<=\{) | (?=\})| ([-+*/<>=!&|?:]+) "#

  static func named(_ name: some StringProtocol) -> PageFile? { all[String(name)] }

  /// Everything comes from this server, the page has no inline scripts or styles, and no other page may frame it.
  private static let policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    + "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

  /// The page that asks for the password, with what was wrong. The target `next` is shown after it.
  static func login(
    for request: ServerRequest, _ status: HTTPResponseStatus = .ok, _ message: String = "", next: String = "",
    headers: HTTPHeaders = [:]
  ) -> ServerResponse {
    guard let file = named("login.html") else { return .problem(.notFound) }
    let next = next.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    let text = String(decoding: file.bytes, as: UTF8.self).replacing("<!-- message -->", with: message)
      .replacing("action=\"/login\"", with: "action=\"/login?next=\(next)\"")
    // Without a referrer a browser would not say which page sends the form.
    let own: HTTPHeaders = [
      "content-type": file.type, "cache-control": "no-store", "referrer-policy": "same-origin",
      "content-security-policy": policy.replacing("form-action 'none'", with: "form-action 'self'"),
      "x-content-type-options": "nosniff",
    ]
    let all = Array(headers) + Array(own) + Array(isolation(for: request))
    return ServerResponse(status, headers: HTTPHeaders(all), body: .bytes(Data(text.utf8)))
  }

  /// Keeps pages of others that open this one from reaching it. Over plain HTTP from another machine a browser would only
  /// complain of it.
  private static func isolation(for request: ServerRequest) -> HTTPHeaders {
    let isMeant = request.isSecure || ["127.0.0.1", "::1"].contains(request.client)
    return isMeant ? ["cross-origin-opener-policy": "same-origin"] : [:]
  }

  func response(to request: ServerRequest) -> ServerResponse {
    var headers: HTTPHeaders = [
      // The next version of the program has other files of the same names.
      "etag": tag, "cache-control": "no-cache", "x-content-type-options": "nosniff", "referrer-policy": "no-referrer",
    ]
    if EntityTag.isNamed(tag, in: request) { return ServerResponse(.notModified, headers: headers) }
    headers.add(name: "content-type", value: type)
    headers.add(name: "content-security-policy", value: Self.policy)
    headers.add(contentsOf: Self.isolation(for: request))
    headers.add(name: "cross-origin-resource-policy", value: "same-origin")
    return ServerResponse(.ok, headers: headers, body: .bytes(bytes))
  }
}
