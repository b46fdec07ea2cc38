// The module ThumbnailServer: a gallery as a page, and thumbnails over HTTP, both from one pipeline.

import Foundation
package import HTTPServer
import NIOCore
package import NIOHTTP1
import Synchronization
package import Thumbnailer

/// Serves a gallery's page and its images, and thumbnails of allowed sources.
package final class ThumbnailServer: HTTPResponder {
  /// As many as connections, so that none is refused.
  private static let mostLookups = 8192
  /// Concurrent reads of stored thumbnails; one client has at most a quarter.
  private static let lookupsAtOnce = 16

  /// The longest message of a page in bytes, and the longest one that names photos.
  private static let longestMessage = 64 << 10
  /// The longest image that is uploaded, in bytes.
  private static let longestUpload = 64 << 20
  private static let longestLinkMessage = 512 << 10

  private let configuration: Configuration
  private let pipeline: ThumbnailPipeline
  private let requestGuard: RequestGuard
  private let admission: RequestAdmission
  private let metrics = ServerMetrics()
  private let images: ImageRoutes
  private let thumbnails: ThumbnailRoutes
  private let imaginary: ImaginaryRoutes
  private let purge: PurgeRoute
  private let gallery: GalleryRoutes?
  private let following: Task<Void, Never>
  private let isStopping = Atomic(false)

  /// A server of a pipeline's thumbnails, for an `HTTPServer`.
  package init(_ configuration: Configuration, pipeline: ThumbnailPipeline) {
    (self.configuration, self.pipeline) = (configuration, pipeline)
    let token = Token.random()
    requestGuard = RequestGuard(hosts: configuration.hosts, token: token)
    admission = RequestAdmission(limit: configuration.mostWaiting, making: configuration.mostMaking)
    let registry = ImageRegistry(headers: configuration.headers)
    following = metrics.follow(pipeline)
    var responder = ThumbnailResponder(
      pipeline: pipeline, admission: admission,
      lookups: RequestAdmission(limit: Self.mostLookups, making: Self.lookupsAtOnce),
      deadline: configuration.deadline,
      namesSources: configuration.namesSources)
    let access = SourceAccess(
      signer: configuration.signer, hosts: configuration.sourceHosts, folder: configuration.folder,
      headers: configuration.headers)
    let hidden = HiddenPhotos(configuration.hidden, prints: HiddenPhotos(configuration.hidden?.prints))
    images = ImageRoutes(registry: registry, thumbnails: responder, hidden: hidden)
    responder.namesSources = false
    imaginary = ImaginaryRoutes(thumbnails: responder, access: access, key: configuration.imaginaryKey)
    purge = PurgeRoute(pipeline: pipeline, access: access, key: configuration.purgeKey)
    thumbnails = ThumbnailRoutes(thumbnails: responder, access: access, presets: configuration.presets)
    gallery = configuration.gallery.map { source in
      GalleryRoutes(
        sessions: GallerySessions(
          source, pipeline: pipeline, headers: configuration.headers, hidden: hidden,
          patience: configuration.sessionPatience),
        registry: registry, pipeline: pipeline, token: token, sharing: configuration.sharing,
        zips: ZipDownloads(source, registry: registry))
    }
  }

  deinit { following.cancel() }

  /// Makes the server not ready, and ends the galleries' work and the streams to their pages.
  package func stop() async {
    isStopping.store(true, ordering: .releasing)
    await gallery?.sessions.endAll()
  }

  package func bodyLimit(for head: HTTPRequestHead) -> Int {
    guard head.method == .POST else { return Self.longestMessage }
    let path = Route.parts(of: head.uri)
    switch Route(path: path) {
    case .imaginary: return Self.longestUpload
    case .api where path.last == "link" || path.last == "zip": return Self.longestLinkMessage
    default: return Self.longestMessage
    }
  }

  package func timedResponse(to request: ServerRequest) -> TimedResponse {
    let destination = Destination(request.target, configuration.sharing?.links)
    let (route, path, link) = (destination.route, destination.path, destination.link)
    if let problem = requestGuard.problem(with: request, route, link) { return .now(.problem(problem)) }
    if let problem = route.problem(with: request.method) { return .now(.problem(problem)) }
    if let response = configuration.sharing?.response(to: request, destination) { return .now(response) }
    switch route {
    case .page: return .now(page(path.count == 2 ? path[1] : "index.html", request))
    case .picture: return images.timedResponse(to: request, path: Array(path.dropFirst()), link)
    case .thumb: return thumbnails.timedResponse(to: request)
    case .health: return .now(.text("ok\n"))
    case .ready: return .now(readiness)
    case .metrics:
      let text = metrics.text(pipeline: pipeline, waiting: admission.current)
      return .now(.text(text, type: "text/plain; version=0.0.4; charset=utf-8"))
    case .help: return .now(page("help.html", request))
    case .api where isStopping.load(ordering: .acquiring): return .now(.problem(.stopping))
    case .api:
      guard let gallery else { return .now(.problem(.notFound)) }
      return .later { await gallery.response(to: request, path: Array(path.dropFirst()), link) }
    case .imaginary: return .later { [imaginary] in await imaginary.response(to: request) }
    case .cache: return .later { [purge] in await purge.response(to: request) }
    case .login, .link, .removed, .none: return .now(.problem(.notFound))
    }
  }

  package func refusal(of status: HTTPResponseStatus, head: HTTPRequestHead?) -> ServerResponse {
    // A request that would not be responded to anyway is not too long.
    if status == .payloadTooLarge, let head,
      let problem = Route(path: Route.parts(of: head.uri)).problem(with: head.method)
    {
      return .problem(problem)
    }
    let isPassing = status == .tooManyRequests || status == .serviceUnavailable
    return .problem(
      .init(status, "refused", status.reasonPhrase.lowercased(), headers: isPassing ? ["retry-after": "1"] : [:]))
  }

  package func finished(_ exchange: ServerExchange) {
    metrics.record(exchange, route: Route(path: Route.parts(of: exchange.target)))
  }

  /// Whether the server is ready for requests. The problem of a cache names its folder, so it is left out.
  private var readiness: ServerResponse {
    if isStopping.load(ordering: .acquiring) { return .problem(.stopping) }
    guard pipeline.cacheProblem == nil else {
      return .problem(
        ServerResponse.Problem(.serviceUnavailable, "cache-problem", "the disk cache cannot be used at the moment"))
    }
    return .text("ready\n")
  }

  /// A file of the page.
  private func page(_ name: some StringProtocol, _ request: ServerRequest) -> ServerResponse {
    let name = gallery == nil && name == "index.html" ? "help.html" : String(name)
    guard let file = PageFile.named(name) else { return .problem(.notFound) }
    return file.response(to: request)
  }
}
