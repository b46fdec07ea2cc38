import Foundation
import HTTPServer
import NIOHTTP1
import ThumbnailCore
import Thumbnailer

/// Thumbnails by address: `/thumb/{options}/{source}`. The source is a percent-encoded URL, or a path within the served
/// folder.
struct ThumbnailRoutes: Sendable {
  private typealias Problem = ServerResponse.Problem

  let thumbnails: ThumbnailResponder
  let access: SourceAccess
  let presets: [String: String]
  /// The value of `Cache-Control`.
  static let storing = "public, max-age=86400, stale-while-revalidate=604800, stale-if-error=604800"

  private let accepted = AcceptedAddresses()

  /// The thumbnail at once, if it is in memory.
  func timedResponse(to request: ServerRequest) -> TimedResponse {
    // A file needs a system call.
    let wanted = try? wanted(request, onlyURLs: true)
    if let wanted {
      let (options, negotiation) = (wanted.options, negotiation(request, wanted.options))
      // AVIF is made only while no other request waits.
      for allowsAVIF in thumbnails.admission.current > 0 ? [true, false] : [true] {
        let variant = options.variant(accepted: negotiation.format(allowsAVIF: allowsAVIF))
        let hit = thumbnails.cached(wanted.source, variant, Self.storing, for: request, extra: vary(options))
        if let hit { return .now(hit) }
      }
    }
    return .later { await response(to: request, wanted) }
  }

  private func response(to request: ServerRequest, _ known: AcceptedAddresses.Address?) async -> ServerResponse {
    do throws(Problem) {
      let wanted = if let known { known } else { try wanted(request) }
      let (source, options, negotiation) = (wanted.source, wanted.options, negotiation(request, wanted.options))
      let format = await thumbnails.format(for: negotiation, of: source) { options.variant(accepted: $0) }
      let variant = options.variant(accepted: format)
      return await thumbnails.made(source, variant, Self.storing, for: request, extra: vary(options))
    } catch {
      return .problem(error)
    }
  }

  /// The requested thumbnail, if the client may have it.
  ///
  /// - Parameter onlyURLs: Whether to leave out files, which need a system call.
  private func wanted(_ request: ServerRequest, onlyURLs: Bool = false) throws(Problem) -> AcceptedAddresses.Address {
    if let known = accepted.address(of: request.target) { return known }
    // `thumb` and the options come first; the source may contain slashes.
    let parts = request.path.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 2)
    guard parts.count == 3, let text = Substring(parts[1]).removingPercentEncoding,
      let name = Substring(parts[2]).removingPercentEncoding
    else { throw Problem(.badRequest, "invalid-request", "write /thumb/OPTIONS/SOURCE; /help has examples") }
    let options: VariantPath
    do throws(InvalidValue) {
      options = try VariantPath(parsing: text, presets: presets)
    } catch {
      throw Problem(.badRequest, "invalid-request", error.message)
    }
    let isURL = WebAddress.isURL(name)
    if onlyURLs, !isURL { throw .notFound }
    // A value that is not a number is refused when the signature is checked.
    let end = QueryItems(request.query).integer("expires")
    let address = AcceptedAddresses.Address(options: options, source: try access.image(name, request), end: end)
    if isURL { accepted.insert(address, of: request.target) }
    return address
  }

  /// The client's preferences, if the address leaves something open.
  private func negotiation(_ request: ServerRequest, _ options: VariantPath) -> ContentNegotiation {
    options.format == nil ? ContentNegotiation(request.headers) : .none
  }

  /// The request headers that the response depends on.
  private func vary(_ options: VariantPath) -> HTTPHeaders { options.format == nil ? ["vary": "Accept"] : [:] }
}

/// Addresses of images on the web.
enum WebAddress {
  static func isURL(_ source: String) -> Bool {
    let start = source.prefix(8).lowercased()
    return start.hasPrefix("http://") || start.hasPrefix("https://")
  }
}

/// The formats that a client states.
struct ContentNegotiation: Sendable {
  /// The types in `Accept` with a quality above 0, in lower case.
  private let accepted: Set<Substring>

  /// The values for a client that sends none of these fields.
  static let none = ContentNegotiation([:])

  init(_ headers: HTTPHeaders) {
    let fields = headers["accept"].joined(separator: ",").lowercased().split(separator: ",")
    accepted = Set(
      fields.compactMap { field in
        let parts = field.split(separator: ";").map { $0.drop { $0 == " " }.prefix { $0 != " " } }
        let isRefused = parts.dropFirst().contains { $0.hasPrefix("q=") && Double($0.dropFirst(2)) == 0 }
        return isRefused ? nil : parts.first
      })
  }

  /// The format to send. Only named types count: clients that show neither AVIF nor WebP send `*/*` and `image/*`, too.
  ///
  /// - Parameter allowsAVIF: AVIF takes ten times as long to make as WebP.
  func format(allowsAVIF: Bool) -> OutputFormat {
    if allowsAVIF, accepted.contains("image/avif") { return .avif }
    return accepted.contains("image/webp") ? .webp : .auto
  }
}
