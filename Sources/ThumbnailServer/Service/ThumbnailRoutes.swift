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

  /// A request that was understood.
  private struct Wanted {
    let options: VariantPath
    let source: String
    let negotiation: ContentNegotiation
  }

  /// The response if the thumbnail is in memory.
  func immediateResponse(to request: ServerRequest) -> ServerResponse? {
    guard request.method == .GET || request.method == .HEAD, let wanted = try? wanted(request),
      // The state of a file would have to be asked for.
      WebAddress.isURL(wanted.source), let source = try? access.image(wanted.source, request)
    else { return nil }
    // While nobody waits, what can be had as AVIF is made.
    for allowsAVIF in thumbnails.admission.current > 0 ? [true, false] : [true] {
      let variant = variant(wanted, wanted.negotiation.format(allowsAVIF: allowsAVIF))
      if let hit = thumbnails.cached(source, variant, storing, for: request, extra: vary(wanted)) { return hit }
    }
    return nil
  }

  func response(to request: ServerRequest) async -> ServerResponse {
    guard request.method == .GET || request.method == .HEAD else { return .problem(.methodNotAllowed) }
    do throws(Problem) {
      let wanted = try wanted(request)
      let source = try access.image(wanted.source, request)
      let format = await thumbnails.format(for: wanted.negotiation, of: source) { variant(wanted, $0) }
      return await thumbnails.made(source, variant(wanted, format), storing, for: request, extra: vary(wanted))
    } catch {
      return thumbnails.response(to: error)
    }
  }

  private func wanted(_ request: ServerRequest) throws(Problem) -> Wanted {
    // `thumb` and the options come first; what follows may have slashes of its own.
    let parts = request.path.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: true)
    guard parts.count == 3, let options = parts[1].removingPercentEncoding,
      let source = parts[2].removingPercentEncoding
    else { throw Problem(.badRequest, "invalid-request", "write /thumb/OPTIONS/SOURCE; /help has examples") }
    do throws(VariantPath.Problem) {
      return Wanted(
        options: try VariantPath(parsing: options, presets: presets), source: source,
        negotiation: ContentNegotiation(request.headers))
    } catch {
      throw Problem(.badRequest, "invalid-request", error.message)
    }
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
