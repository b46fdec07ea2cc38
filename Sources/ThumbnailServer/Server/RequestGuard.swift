import Foundation
import HTTPServer
import NIOCore
import NIOHTTP1

/// Keeps other web pages from using the server through a browser that can reach it.
struct RequestGuard: Sendable {
  /// The field in which the page returns its token.
  static let tokenField = "x-thumbs-token"

  /// The names by which the server may be addressed, in lower case; empty for any.
  let hosts: Set<String>
  /// The token, which only a page of this server has.
  let token: String

  /// The reason to refuse a request; nil if it is allowed. The page of a link has the link's id as its token.
  func problem(
    with request: ServerRequest, _ route: Route, _ link: ShareLink? = nil
  ) -> ServerResponse.Problem? {
    // Load balancers request these by address, and they contain no information.
    if route == .health || route == .ready { return nil }
    // If a stranger's host name leads to this machine (DNS rebinding), a browser would treat his page as one of ours.
    let authority = request.headers.first(name: "host")?.lowercased() ?? ""
    guard hosts.isEmpty || isKnown(Self.name(of: authority)) else {
      return .init(
        .misdirectedRequest, "wrong-host",
        "this server is not known by that name; --allow-host adds it")
    }
    guard request.method != .GET, request.method != .HEAD else { return nil }
    if Self.isForeign(request, authority) {
      return .init(.forbidden, "wrong-origin", "another page may not change this gallery")
    }
    // Servers that upload images have their own key, and change nothing.
    guard route == .api else { return nil }
    guard let given = request.headers.first(name: Self.tokenField), Token.areEqual(given, link?.id ?? token) else {
      return .init(.forbidden, "no-token", "the page is from an earlier run of the server; load it again")
    }
    return nil
  }

  /// An address cannot be pointed elsewhere, as a name can: any address of this machine is fine.
  private func isKnown(_ name: String) -> Bool {
    hosts.contains(name) || (try? SocketAddress(ipAddress: name.filter { $0 != "[" && $0 != "]" }, port: 0)) != nil
  }

  /// Whether a browser reports that a page of another origin has sent the request. Other programs report nothing.
  private static func isForeign(_ request: ServerRequest, _ authority: String) -> Bool {
    if let site = request.headers.first(name: "sec-fetch-site"), !["same-origin", "none"].contains(site.lowercased()) {
      return true
    }
    guard let origin = request.headers.first(name: "origin")?.lowercased() else { return false }
    // The scheme may differ behind a proxy that speaks TLS; the port is part of an origin.
    return !["http://", "https://"].contains { origin == $0 + authority }
  }

  /// A host without its port.
  private static func name(of host: String) -> String {
    if host.hasPrefix("["), let end = host.firstIndex(of: "]") {
      let rest = host[host.index(after: end)...]
      return rest.isEmpty || rest.hasPrefix(":") ? String(host[...end]) : host
    }
    return String(host.prefix { $0 != ":" })
  }
}
