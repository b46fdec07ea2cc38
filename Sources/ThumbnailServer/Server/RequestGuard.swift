import Foundation
import HTTPServer
import NIOHTTP1

/// Keeps other web pages from using the server through a browser that can reach it.
struct RequestGuard: Sendable {
  /// The field in which the page returns its token.
  static let tokenField = "x-thumbs-token"

  /// The names by which the server may be addressed, in lower case; empty for any.
  let hosts: Set<String>
  /// What only a page of this server has read.
  let token: String

  /// What is wrong with a request; nil if it may be responded to.
  func problem(with request: ServerRequest, _ route: Route) -> ServerResponse.Problem? {
    // Asked for by address, as by a load balancer, and telling nothing.
    if route == .health || route == .ready { return nil }
    // A name that a stranger has pointed at this machine (DNS rebinding) would make his page one of ours to a browser.
    guard let host = request.headers.first(name: "host").map(Self.name(of:)), hosts.isEmpty || hosts.contains(host)
    else {
      return .init(
        .misdirectedRequest, "wrong-host",
        "this server is not known by that name; --allow-host adds it")
    }
    guard request.method != .GET, request.method != .HEAD else { return nil }
    if let origin = request.headers.first(name: "origin"),
      origin.lowercased().split(separator: "/").last.map({ Self.name(of: String($0)) }) != host
    {
      return .init(.forbidden, "wrong-origin", "another page may not change this gallery")
    }
    // Servers that upload images have their own key, and change nothing.
    guard route == .api else { return nil }
    guard let given = request.headers.first(name: Self.tokenField), Token.areEqual(given, token) else {
      return .init(.forbidden, "no-token", "the page is from an earlier run of the server; load it again")
    }
    return nil
  }

  /// A host without its port, in lower case.
  private static func name(of host: String) -> String {
    let host = host.lowercased()
    if host.hasPrefix("["), let end = host.firstIndex(of: "]") { return String(host[...end]) }
    return String(host.prefix { $0 != ":" })
  }
}
