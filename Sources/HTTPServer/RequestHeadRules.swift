import NIOHTTP1

/// Rules for a request's head in addition to the parser's checks (RFC 9112).
enum RequestHeadRules {
  /// The longest target, in bytes.
  private static let longestTarget = 8 << 10
  /// The longest header field with its name, in bytes.
  private static let longestField = 16 << 10
  /// The header fields together, in bytes.
  private static let longestHead = 32 << 10
  private static let mostFields = 100

  /// The parser's limits.
  static var limits: NIOHTTPDecoderLimitConfiguration {
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderFieldSize = longestField
    limits.maxHeaderListSize = longestHead
    limits.maxHeaderFieldCount = mostFields
    return limits
  }

  /// Brings the target into the form that responders expect: a path and a query, or `*`.
  ///
  /// - Returns: The status with which to refuse the request; nil if it is valid.
  static func normalise(_ head: inout HTTPRequestHead) -> HTTPResponseStatus? {
    guard head.uri.utf8.count <= longestTarget else { return .uriTooLong }
    if head.version.minor == 0, head.headers.contains(name: "transfer-encoding") { return .badRequest }
    let hosts = head.headers["host"]
    // With two of them, a proxy in front may have checked the other one.
    guard hosts.count <= 1, hosts.count == 1 || head.version.minor == 0 else { return .badRequest }
    if let host = hosts.first, !isAuthority(host) { return .badRequest }
    return normaliseTarget(of: &head)
  }

  private static func normaliseTarget(of head: inout HTTPRequestHead) -> HTTPResponseStatus? {
    if head.uri.utf8.first == UInt8(ascii: "/") { return nil }
    if head.method == .OPTIONS, head.uri == "*" { return nil }
    // The form of proxies: its host counts, not the field's.
    guard let scheme = ["http://", "https://"].first(where: { head.uri.lowercased().hasPrefix($0) }) else {
      return .badRequest
    }
    let rest = head.uri.dropFirst(scheme.count)
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    guard !authority.isEmpty, isAuthority(authority) else { return .badRequest }
    let path = rest.dropFirst(authority.count)
    head.headers.replaceOrAdd(name: "host", value: String(authority))
    head.uri = path.hasPrefix("/") ? String(path) : "/\(path)"
    return nil
  }

  /// Whether a text is a host with an optional port, and nothing that two programs could read differently.
  private static func isAuthority(_ text: some StringProtocol) -> Bool {
    text.utf8.allSatisfy { byte in
      byte > 0x20 && byte < 0x7f && !"/\\@,;?#\"<>".utf8.contains(byte)
    }
  }
}
