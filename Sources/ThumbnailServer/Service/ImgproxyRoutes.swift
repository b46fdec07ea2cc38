import Foundation
import HTTPServer
import NIOHTTP1
import ThumbnailCore

/// The common part of imgproxy's addresses, below `/imgproxy`.
struct ImgproxyRoutes: Sendable {
  let thumbnails: ThumbnailResponder
  let access: SourceAccess
  /// Checks signatures; nil: the same images are served as at other addresses.
  let key: ImgproxyKey?
  let storing: String

  func response(to request: ServerRequest) async -> ServerResponse {
    let wanted: ImgproxyRequest
    do throws(ImgproxyRequest.Problem) {
      wanted = try ImgproxyRequest(path: request.path.dropFirst("/imgproxy".count))
    } catch {
      return thumbnails.response(to: ServerResponse.Problem(.notFound, "invalid-request", error.message))
    }
    if let key, !key.accepts(wanted) {
      return thumbnails.response(to: ServerResponse.Problem(.forbidden, "refused", "Invalid signature"))
    }
    if let end = wanted.expires, Date().timeIntervalSince1970 >= Double(end) {
      return thumbnails.response(to: ServerResponse.Problem(.notFound, "expired", "Expired URL"))
    }
    do throws(ServerResponse.Problem) {
      let source = try access.image(wanted.source, request, isSigned: key != nil)
      let negotiation = ContentNegotiation(request.headers)
      let accepted = await thumbnails.format(for: negotiation, of: source) { wanted.variant(accepted: $0) }
      let isOpen = wanted.format == nil
      var response = ServerResponse(.notFound)
      for format in isOpen && accepted == .auto ? [.same, .auto, .png] : [accepted] {
        response = await thumbnails.made(
          source, wanted.variant(accepted: format), storing, for: request, extra: isOpen ? ["vary": "Accept"] : [:])
        if accepted != .auto || response.headers.first(name: "content-type").map(Self.isPreferred) ?? true { break }
      }
      return response
    } catch {
      return thumbnails.response(to: error)
    }
  }

  /// Whether a client that names no type gets images of this type in their own format: all others become JPEG, or PNG
  /// if they have transparent parts. Errors have a type, too.
  private static func isPreferred(_ type: String) -> Bool {
    !type.hasPrefix("image/") || ["image/jpeg", "image/png", "image/gif"].contains(type)
  }
}
