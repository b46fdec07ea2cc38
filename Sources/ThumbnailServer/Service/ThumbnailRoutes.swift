import Foundation
import HTTPServer
import NIOHTTP1
import ThumbnailCore
import Thumbnailer

/// Thumbnails of what is named in the address: `/thumb/{options}/{source}`, where the source is a URL, percent-encoded,
/// or a path within the served folder.
struct ThumbnailRoutes: Sendable {
  private typealias Problem = ServerResponse.Problem

  let thumbnails: ThumbnailResponder
  let access: SourceAccess
  let presets: [String: String]
  /// The value of `Cache-Control`.
  let storing: String

  private let accepted = AcceptedAddresses()

  init(thumbnails: ThumbnailResponder, access: SourceAccess, presets: [String: String], storing: String) {
    (self.thumbnails, self.access, self.presets, self.storing) = (thumbnails, access, presets, storing)
  }

  /// A request that was understood.
  private struct Wanted {
    let options: VariantPath
    let source: ServedSource
    let negotiation: ContentNegotiation
  }

  /// The response if the thumbnail is in memory.
  func immediateResponse(to request: ServerRequest) -> ServerResponse? {
    guard let wanted = try? wanted(request, onlyURLs: true) else { return nil }
    // While nobody waits, what can be had as AVIF is made.
    for allowsAVIF in thumbnails.admission.current > 0 ? [true, false] : [true] {
      let variant = variant(wanted, wanted.negotiation.format(allowsAVIF: allowsAVIF))
      if let hit = thumbnails.cached(wanted.source, variant, storing, for: request, extra: vary(wanted)) { return hit }
    }
    return nil
  }

  func response(to request: ServerRequest) async -> ServerResponse {
    do throws(Problem) {
      let wanted = try wanted(request)
      let format = await thumbnails.format(for: wanted.negotiation, of: wanted.source) { variant(wanted, $0) }
      return await thumbnails.made(wanted.source, variant(wanted, format), storing, for: request, extra: vary(wanted))
    } catch {
      return thumbnails.response(to: error)
    }
  }

  /// What is asked for, if the client may.
  ///
  /// - Parameter onlyURLs: Whether to do without files, whose state would have to be asked for.
  private func wanted(_ request: ServerRequest, onlyURLs: Bool = false) throws(Problem) -> Wanted {
    if let known = accepted.address(of: request.target) {
      return Wanted(
        options: known.options, source: known.source, negotiation: negotiation(request, known.options))
    }
    // `thumb` and the options come first; what follows may have slashes of its own.
    let parts = request.path.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 2)
    guard parts.count == 3, let text = Substring(parts[1]).removingPercentEncoding,
      let name = Substring(parts[2]).removingPercentEncoding
    else { throw Problem(.badRequest, "invalid-request", "write /thumb/OPTIONS/SOURCE; /help has examples") }
    let options: VariantPath
    do throws(VariantPath.Problem) {
      options = try VariantPath(parsing: text, presets: presets)
    } catch {
      throw Problem(.badRequest, "invalid-request", error.message)
    }
    let isURL = WebAddress.isURL(name)
    if onlyURLs, !isURL { throw .notFound }
    let source = try access.image(name, request)
    if isURL {
      // What is no number is not accepted, where it counts.
      let end = QueryItems(request.query)["expires"].flatMap { Int($0) }
      accepted.insert(AcceptedAddresses.Address(options: options, source: source, end: end), of: request.target)
    }
    return Wanted(options: options, source: source, negotiation: negotiation(request, options))
  }

  /// What the client says, where the address leaves something to it.
  private func negotiation(_ request: ServerRequest, _ options: VariantPath) -> ContentNegotiation {
    let isOpen = options.format == nil || options.density == .client || options.followsWidth
    return isOpen ? ContentNegotiation(request.headers) : .none
  }

  private func variant(_ wanted: Wanted, _ accepted: OutputFormat) -> Variant {
    wanted.options.variant(
      density: wanted.negotiation.density, width: wanted.negotiation.width, accepted: accepted)
  }

  /// What the response depends on, beside the address.
  private func vary(_ wanted: Wanted) -> HTTPHeaders {
    var fields: [String] = []
    if wanted.options.format == nil { fields.append("Accept") }
    var hints: [String] = []
    if wanted.options.density == .client { hints.append("DPR") }
    if wanted.options.followsWidth { hints.append("Width") }
    fields += hints.flatMap { ["Sec-CH-\($0)", $0] }
    guard !fields.isEmpty else { return [:] }
    var headers: HTTPHeaders = ["vary": fields.joined(separator: ", ")]
    if !hints.isEmpty { headers.add(name: "accept-ch", value: hints.map { "Sec-CH-\($0)" }.joined(separator: ", ")) }
    return headers
  }
}

/// Addresses of images on the web.
enum WebAddress {
  static func isURL(_ source: String) -> Bool {
    let start = source.prefix(8).lowercased()
    return start.hasPrefix("http://") || start.hasPrefix("https://")
  }
}
