import CCurl
import Foundation
import HTTPSemantics
import ThumbnailCore

/// A URL as libcurl itself reads it, so that what we check and what it fetches cannot differ.
struct CurlURL: Sendable, Equatable {
  /// The whole URL, normalised, without a login.
  let text: String
  /// The login that stood before the host, as a field.
  let login: HTTPHeader?
  /// In lower case.
  let scheme: String
  /// In lower case.
  let host: String
  /// The explicit port or the scheme's own.
  let port: Int

  /// Parses `text`; with a base, `text` may be relative to it. Nil when it is no URL.
  init?(_ text: String, relativeTo base: CurlURL? = nil) {
    guard let handle = curl_url() else { return nil }
    defer { curl_url_cleanup(handle) }
    // Unknown schemes are let through so that they can be named; spaces and the like, common in Location, are encoded.
    let lenient = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE)
    if let base {
      guard curl_url_set(handle, CURLUPART_URL, base.text, lenient) == CURLUE_OK else { return nil }
    }
    guard curl_url_set(handle, CURLUPART_URL, text, lenient) == CURLUE_OK else { return nil }
    login = Self.takeLogin(out: handle)
    guard
      let url = Self.part(CURLUPART_URL, of: handle, flags: 0),
      let scheme = Self.part(CURLUPART_SCHEME, of: handle, flags: 0)
    else { return nil }
    self.text = url
    self.scheme = scheme.lowercased()
    host = Self.part(CURLUPART_HOST, of: handle, flags: 0)?.lowercased() ?? ""
    port = Self.part(CURLUPART_PORT, of: handle, flags: UInt32(CURLU_DEFAULT_PORT)).flatMap { Int($0) } ?? 0
  }

  /// Takes the login out of the URL. One without a name and a password is none.
  private static func takeLogin(out handle: OpaquePointer) -> HTTPHeader? {
    let parts = [CURLUPART_USER, CURLUPART_PASSWORD].map { name in
      // Decoded here: they are bytes of any encoding, of which libcurl refuses some.
      let bytes = RawPath(percentEncoded: part(name, of: handle, flags: 0) ?? "").bytes
      curl_url_set(handle, name, nil, 0)
      return bytes
    }
    guard parts.contains(where: { !$0.isEmpty }) else { return nil }
    let token = Data(parts.joined(separator: Array(":".utf8))).base64EncodedString()
    return HTTPHeader("Authorization", "Basic \(token)")
  }

  private static func part(_ part: CURLUPart, of handle: OpaquePointer, flags: UInt32) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text else { return nil }
    defer { curl_free(text) }
    return String(cString: text)
  }

  /// Where connections go, and what host limits count by.
  var site: String { "\(scheme)://\(host):\(port)" }

  /// The host as people write it: with its port where that is not the scheme's own.
  var shownHost: String { port == (scheme == "https" ? 443 : 80) ? host : "\(host):\(port)" }

  /// The fields with the URL's login, unless they have one of their own.
  func addingLogin(to headers: [HTTPHeader]) -> [HTTPHeader] {
    guard let login, headers.firstValue(of: login.name) == nil else { return headers }
    return headers + [login]
  }

  /// Whether what was meant for this URL may be sent to `other`: the same host and port, or its move from `http` to
  /// `https` on the usual ports. Never from `https` back.
  func sharesCredentials(with other: CurlURL) -> Bool {
    if site == other.site { return true }
    return host == other.host && scheme == "http" && port == 80 && other.scheme == "https" && other.port == 443
  }
}
