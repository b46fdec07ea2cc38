// The module ThumbnailServer: a gallery as a page, and thumbnails over HTTP, both from one pipeline.

import Foundation
package import HTTPServer
package import HTTPTransport
import NIOCore
package import NIOHTTP1
import PhotoSources
import ThumbnailCore
package import Thumbnailer

/// Serves a gallery's page and its images.
package final class ThumbnailServer: HTTPResponder {
  private let guarding: RequestGuard
  private let images: ImageRoutes
  private let sessions: GallerySessions?
  private let gallery: GalleryRoutes?
  private let configuration: Configuration

  /// A server of thumbnails that a pipeline makes. It is to be given to an `HTTPServer`.
  package init(_ configuration: Configuration, pipeline: ThumbnailPipeline) {
    self.configuration = configuration
    let token = Token.random()
    guarding = RequestGuard(hosts: configuration.hosts, token: token)
    let registry = ImageRegistry(headers: configuration.headers)
    let admission = RequestAdmission(limit: configuration.mostWaiting)
    let responder = ThumbnailResponder(pipeline: pipeline, admission: admission)
    images = ImageRoutes(registry: registry, pipeline: pipeline, thumbnails: responder)
    sessions = configuration.gallery.map {
      GallerySessions($0, pipeline: pipeline, headers: configuration.headers)
    }
    gallery = sessions.map {
      GalleryRoutes(sessions: $0, registry: registry, pipeline: pipeline, token: token)
    }
  }

  /// Ends the galleries' work, and with it the streams to their pages.
  package func stop() async { await sessions?.endAll() }

  package func bodyLimit(for head: HTTPRequestHead) -> Int { configuration.longestMessage }

  package func immediateResponse(to request: ServerRequest) -> ServerResponse? {
    if let problem = guarding.problem(with: request) { return .problem(problem) }
    let path = request.path.split(separator: "/", omittingEmptySubsequences: true)
    switch path.first {
    case nil: return page("index.html", request)
    case "page" where path.count == 2: return page(path[1], request)
    case "picture": return images.immediateResponse(to: request, path: Array(path.dropFirst()))
    default: return nil
    }
  }

  package func response(to request: ServerRequest) async -> ServerResponse {
    let path = request.path.split(separator: "/", omittingEmptySubsequences: true)
    let rest = Array(path.dropFirst())
    switch path.first {
    case "picture": return await images.response(to: request, path: rest)
    case "api":
      guard let gallery else { return .problem(.notFound) }
      return await gallery.response(to: request, path: rest)
    case "healthz" where rest.isEmpty: return .text("ok\n")
    default: return .problem(.notFound)
    }
  }

  package func refusal(of status: HTTPResponseStatus) -> ServerResponse {
    .problem(ServerResponse.Problem(status, "refused", status.reasonPhrase.lowercased()))
  }

  package func finished(_ exchange: ServerExchange) {}

  /// A file of the page.
  private func page(_ name: some StringProtocol, _ request: ServerRequest) -> ServerResponse {
    guard gallery != nil, let file = PageFile.named(name) else { return .problem(.notFound) }
    guard request.method == .GET || request.method == .HEAD else { return .problem(.methodNotAllowed) }
    return file.response(to: request)
  }
}

extension ThumbnailServer {
  /// What a server serves, and to whom.
  package struct Configuration: Sendable {
    /// What the page shows; nil for no page.
    package var gallery: GallerySource?
    /// Header fields for the hosts that images come from.
    package var headers = HostHeaders()
    /// The hosts by which the server may be addressed, without the port. Any web page may have a browser send requests
    /// to a port of this machine, but not under one of these names.
    package var hosts: Set<String> = ["localhost", "127.0.0.1", "[::1]"]
    /// The most requests whose thumbnails are being made at once, waiting ones included.
    package var mostWaiting = 1024
    /// The longest message of a page, in bytes.
    package var longestMessage = 64 << 10

    /// The defaults.
    package init() {}
  }
}
