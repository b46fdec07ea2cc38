import HTTPServer
import NIOHTTP1

/// Shows a gallery to those who have its password, and parts of it to those who have a link. Nothing else is served.
package struct Sharing: Sendable {
  package let login: Login
  package let links: ShareLinks
  /// The host of links that are made on this machine itself; nil for that of the page.
  let host: String?

  package init(login: Login, links: ShareLinks, host: String? = nil) {
    (self.login, self.links, self.host) = (login, links, host)
  }

  /// The response to a request that is not allowed, or that logs in; nil for others.
  func response(to request: ServerRequest, _ destination: Destination) -> ServerResponse? {
    let isAdmitted = destination.link != nil || login.session(of: request) != nil
    switch destination.route {
    case .health, .ready: return nil
    case .login: return login.response(to: request)
    // The page's own files contain no secrets.
    case .page where isAdmitted || destination.path.count == 2: return nil
    case .api where isAdmitted, .picture where isAdmitted: return nil
    case .page: return PageFile.login(for: request, next: request.target)
    case .link where destination.path.count == 2:
      return PageFile.login(for: request, .notFound, "There is no such link, or it has ended: ask for a new one.")
    case .api, .picture, .link:
      return .problem(.init(.forbidden, "no-login", "load the page again, and enter the password"))
    default: return .problem(.notFound)
    }
  }
}

/// The route of a request, its path there, and the link that it belongs to.
struct Destination: Sendable {
  let route: Route
  let path: [Substring]
  var link: ShareLink?

  init(_ target: String, _ links: ShareLinks?) {
    let path = Route.parts(of: target)
    link = path.first == Route.linkPrefix && path.count > 1 ? links?.link(path[1]) : nil
    self.path = link == nil ? path : Array(path.dropFirst(2))
    route = Route(path: self.path)
  }
}
