import Foundation
import HTTPServer
import NIOHTTP1
import ThumbnailCore
import Thumbnailer

/// Removes an image's thumbnails from the caches: `DELETE /cache?url=…`, or with the path of a file within the served
/// folder, and with the key as `Authorization: Bearer KEY`.
struct PurgeRoute: Sendable {
  private typealias Problem = ServerResponse.Problem

  let pipeline: ThumbnailPipeline
  let access: SourceAccess
  /// What has to be sent; nil: nobody may remove anything.
  let key: String?

  func response(to request: ServerRequest) async -> ServerResponse {
    guard let key else { return .problem(.notFound) }
    guard request.method == .DELETE else {
      return .problem(Problem(.methodNotAllowed, "method-not-allowed", "write DELETE /cache?url=…"))
    }
    let given = request.headers.first(name: "authorization")?.split(separator: " ", maxSplits: 1) ?? []
    guard given.count == 2, given[0].lowercased() == "bearer", Token.areEqual(given[1], key) else {
      return .problem(Problem(.forbidden, "refused", "the key is missing or wrong"))
    }
    guard let named = QueryItems(request.query)["url"] else {
      return .problem(Problem(.badRequest, "invalid-request", "write DELETE /cache?url=…, percent-encoded"))
    }
    do throws(ServerResponse.Problem) {
      await pipeline.remove(try access.image(named, request, isSigned: true))
      return .noContent
    } catch {
      return .problem(error)
    }
  }
}
