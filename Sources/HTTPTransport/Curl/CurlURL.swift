import CCurl
import Foundation
import HTTPSemantics
import ThumbnailCore

/// A URL as libcurl parses it, so that the checked and the fetched URL cannot differ.
struct CurlURL: Sendable, Equatable {
  /// The whole URL, normalised, without a login.
  let text: String
  /// The URL's login (user and password) as an `Authorization` field.
  let login: HTTPHeader?
  /// The scheme, in lower case.
  let scheme: String
  /// The host, in lower case.
  let host: String
  /// The explicit port or the scheme's default.
  let port: Int

  /// Parses `text`. Nil if it is not a URL.
  init?(_ text: String) { try? self.init(parsing: text) }

  /// Parses `text`, which may be relative to `base`. With `keepsDots`, `..` and `.` in the path stay as they are.
  ///
  /// - Throws: `.invalidURL` if it is not a URL, `.noResources` if there is no memory for it.
  init(parsing text: String, relativeTo base: CurlURL? = nil, keepsDots: Bool = false) throws(DownloadError) {
    guard let handle = curl_url() else { throw Self.error(for: CURLUE_OUT_OF_MEMORY) }
    defer { curl_url_cleanup(handle) }
    // Accepts unknown schemes, so that errors can name them, and encodes spaces and similar characters, which are
    // common in Location.
    let lenient = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE)
    if let base {
      try Self.check(curl_url_set(handle, CURLUPART_URL, base.text, lenient))
    }
    let flags = lenient | (keepsDots ? UInt32(CURLU_PATH_AS_IS) : 0)
    try Self.check(curl_url_set(handle, CURLUPART_URL, text, flags))
    login = try Self.takeLogin(out: handle)
    guard
      let url = try Self.part(CURLUPART_URL, of: handle, flags: 0),
      let scheme = try Self.part(CURLUPART_SCHEME, of: handle, flags: 0)
    else { throw .invalidURL }
    self.text = url
    self.scheme = scheme.lowercased()
    host = try Self.part(CURLUPART_HOST, of: handle, flags: 0)?.lowercased() ?? ""
    port = try Self.part(CURLUPART_PORT, of: handle, flags: UInt32(CURLU_DEFAULT_PORT)).flatMap { Int($0) } ?? 0
  }

  /// Removes the login from the URL. An empty one counts as none.
  private static func takeLogin(out handle: OpaquePointer) throws(DownloadError) -> HTTPHeader? {
    let parts = try [CURLUPART_USER, CURLUPART_PASSWORD].map { name throws(DownloadError) in
      // Decoded here, because libcurl rejects some bytes of other encodings.
      let bytes = RawPath(percentEncoded: try part(name, of: handle, flags: 0) ?? "").bytes
      curl_url_set(handle, name, nil, 0)
      return bytes
    }
    guard parts.contains(where: { !$0.isEmpty }) else { return nil }
    let token = Data(parts.joined(separator: Array(":".utf8))).base64EncodedString()
    return HTTPHeader("Authorization", "Basic \(token)")
  }

  private static func part(_ part: CURLUPart, of handle: OpaquePointer, flags: UInt32) throws(DownloadError) -> String?
  {
    var text: UnsafeMutablePointer<CChar>?
    let code = curl_url_get(handle, part, &text, flags)
    if code == CURLUE_OUT_OF_MEMORY { try check(code) }
    guard code == CURLUE_OK, let text else { return nil }
    defer { curl_free(text) }
    return String(cString: text)
  }

  private static func check(_ code: CURLUcode) throws(DownloadError) {
    if code != CURLUE_OK { throw error(for: code) }
  }

  private static func error(for code: CURLUcode) -> DownloadError {
    code == CURLUE_OUT_OF_MEMORY ? .noResources(reason: "no memory for its URL") : .invalidURL
  }

  /// The origin: scheme, host and port. It identifies a host for limits and health.
  var site: String { "\(scheme)://\(host):\(port)" }

  /// The host for messages, with the port if it is not the scheme's default.
  var shownHost: String { port == (scheme == "https" ? 443 : 80) ? host : "\(host):\(port)" }

  /// Adds the URL's login, unless the fields contain one.
  func addingLogin(to headers: [HTTPHeader]) -> [HTTPHeader] {
    guard let login, headers.firstValue(of: login.name) == nil else { return headers }
    return headers + [login]
  }

  /// Whether credentials for this URL may be sent to `other`: the same origin, or an upgrade from `http` to `https` on
  /// the default ports. Never a downgrade.
  func sharesCredentials(with other: CurlURL) -> Bool {
    if site == other.site { return true }
    return host == other.host && scheme == "http" && port == 80 && other.scheme == "https" && other.port == 443
  }
}
