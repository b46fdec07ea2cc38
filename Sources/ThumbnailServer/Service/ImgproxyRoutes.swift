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
      return .problem(ServerResponse.Problem(.notFound, "invalid-request", error.message))
    }
    if let key, !key.accepts(wanted) {
      return .problem(ServerResponse.Problem(.forbidden, "refused", "Invalid signature"))
    }
    if let end = wanted.expires, Date().timeIntervalSince1970 >= Double(end) {
      return .problem(ServerResponse.Problem(.notFound, "expired", "Expired URL"))
    }
    do throws(ServerResponse.Problem) {
      let source = try access.image(wanted.source, request, isSigned: key != nil)
      let negotiation = ContentNegotiation(request.headers)
      let format = await thumbnails.format(for: negotiation, of: source) { wanted.variant(accepted: $0) }
      return await thumbnails.made(
        source, wanted.variant(accepted: format), storing, for: request,
        extra: wanted.format == nil ? ["vary": "Accept"] : [:])
    } catch {
      return thumbnails.response(to: error)
    }
  }
}
