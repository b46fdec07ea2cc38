import HTTPServer
import NIOHTTP1
import Synchronization
import ThumbnailerTracing
package import Tracing

/// A span for each request, which continues the trace of a proxy that is trusted.
package struct RequestTracing: Sendable {
  let tracer: any Tracer
  /// The proxies whose `traceparent` is believed. Anybody else's would put requests into the traces of others.
  private let proxies: TrustedProxies

  /// - Parameters:
  ///   - tracer: Records the spans, and reads the fields of a trace that is continued.
  ///   - proxies: Who may send such fields.
  package init(_ tracer: any Tracer, continuing proxies: TrustedProxies) {
    (self.tracer, self.proxies) = (tracer, proxies)
  }

  /// The span of a request; nil for those of monitors, and for streams, which last as long as their page.
  func span(of request: ServerRequest, from peer: String) -> RequestSpan? {
    let path = Route.parts(of: request.target)
    let route = Route(path: path)
    switch route {
    case .health, .ready, .metrics: return nil
    case .api where path.last == "events": return nil
    default: break
    }
    var context = ServiceContext.topLevel
    if proxies.includes(peer) { tracer.extract(request.headers, into: &context, using: FieldExtractor()) }
    let method = Self.method(request.method)
    let template = route.template(path)
    let span = tracer.startSpan(template.map { "\(method) \($0)" } ?? method, context: context, ofKind: .server)
    return RequestSpan(span, method, route, path)
  }

  /// A method by its name. What a client has invented is not made a name of spans.
  private static func method(_ method: HTTPMethod) -> String {
    if case .RAW = method { "_OTHER" } else { method.rawValue }
  }

  private struct FieldExtractor: Extractor {
    func extract(key: String, from headers: HTTPHeaders) -> String? { headers.first(name: key) }
  }
}

/// The span of a request, until its response has been sent.
final class RequestSpan: RequestObservation {
  private static let firstServerError: UInt = 500

  private let span: any Span
  private let method: String
  private let route: Route
  private let path: [Substring]
  private let isMemoryHit = Atomic(false)

  init(_ span: any Span, _ method: String, _ route: Route, _ path: [Substring]) {
    (self.span, self.method, self.route, self.path) = (span, method, route, path)
  }

  /// What spans of work for the request are placed below.
  var context: ServiceContext { span.context }

  /// Notes that the thumbnail was in memory.
  func noteMemoryHit() { isMemoryHit.store(true, ordering: .relaxed) }

  func finished(_ exchange: ServerExchange) {
    defer { span.end() }
    guard span.isRecording else { return }
    let code = exchange.status?.code
    // All at once: each change of a span's attributes copies them.
    span.updateAttributes { attributes in
      attributes[TraceAttribute.method] = method
      attributes["http.route"] = route.template(path)
      attributes["url.scheme"] = "http"
      attributes["url.path"] = route.shownPath(path)
      attributes["client.address"] = exchange.client
      attributes[TraceAttribute.status] = code.map { Int($0) }
      attributes[TraceAttribute.size] = exchange.byteCount
      if isMemoryHit.load(ordering: .relaxed) { attributes[TraceAttribute.origin] = "memory" }
      if let code, code >= Self.firstServerError { attributes[TraceAttribute.error] = "\(code)" }
      if code == nil { attributes[TraceAttribute.error] = "client_closed" }
    }
    if code ?? 0 >= Self.firstServerError { span.setStatus(SpanStatus(code: .error)) }
  }
}

extension Route {
  private static let hidden = "REDACTED"
  /// What is shown of the last part of a path, in characters.
  private static let longestPart = 200

  /// The path with names in place of what differs; nil where nothing is served.
  func template(_ path: [Substring]) -> String? {
    switch self {
    case .page: path.isEmpty ? "/" : "/page/{file}"
    case .api where path.count == 4 && path[1] == "sessions": "/api/sessions/{session}/{part}"
    case .api: path.count == 2 && ["gallery", "sessions"].contains(path[1]) ? "/api/\(path[1])" : "/api"
    case .picture: "/picture/{key}/{form}"
    case .thumb: "/thumb/{options}/{source}"
    case .imaginary: "/\(path[0])"
    case .imgproxy: "/imgproxy/{signature}/{options}/{source}"
    case .health: "/healthz"
    case .ready: "/readyz"
    case .metrics: "/metrics"
    case .help: "/help"
    case .cache: "/cache"
    case .none: nil
    }
  }

  /// The path without what names images, and without keys and signatures.
  func shownPath(_ path: [Substring]) -> String? {
    switch self {
    case .picture where path.count == 3: "/picture/\(Self.hidden)/\(path[2].prefix(Self.longestPart))"
    // Without options the second part is the image's address.
    case .thumb, .picture, .imgproxy: "/\(rawValue)/\(Self.hidden)"
    case .api where path.count == 4: "/api/sessions/\(Self.hidden)/\(path[3].prefix(Self.longestPart))"
    case .page: path.count == 2 ? "/page/\(path[1].prefix(Self.longestPart))" : "/"
    case .api, .imaginary, .health, .ready, .metrics, .help, .cache: template(path)
    case .none: nil
    }
  }
}
