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
    for allowsAVIF in [true, false] {
      let variant = variant(wanted, allowsAVIF: allowsAVIF)
      if let hit = thumbnails.cached(source, variant, storing, for: request, extra: vary(wanted)) { return hit }
    }
    return nil
  }

  func response(to request: ServerRequest) async -> ServerResponse {
    guard request.method == .GET || request.method == .HEAD else { return .problem(.methodNotAllowed) }
    do throws(Problem) {
      let wanted = try wanted(request)
      let source = try access.image(wanted.source, request)
      // AVIF takes long: only where nobody waits for it.
      let variant = variant(wanted, allowsAVIF: thumbnails.admission.current == 0)
      return await thumbnails.made(source, variant, storing, for: request, extra: vary(wanted))
    } catch {
      return .problem(error)
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

  private func variant(_ wanted: Wanted, allowsAVIF: Bool) -> Variant {
    wanted.options.variant(
      density: wanted.negotiation.density, accepted: wanted.negotiation.format(allowsAVIF: allowsAVIF))
  }

  /// What the response depends on, beside the address.
  private func vary(_ wanted: Wanted) -> HTTPHeaders {
    var fields: [String] = []
    if wanted.options.format == nil { fields.append("Accept") }
    let followsClient = wanted.options.density == .client
    if followsClient { fields += ["Sec-CH-DPR", "DPR"] }
    guard !fields.isEmpty else { return [:] }
    var headers: HTTPHeaders = ["vary": fields.joined(separator: ", ")]
    if followsClient { headers.add(name: "accept-ch", value: "Sec-CH-DPR") }
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
