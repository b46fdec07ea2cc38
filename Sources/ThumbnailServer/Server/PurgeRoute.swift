import Foundation
import HTTPServer
import NIOHTTP1
import ThumbnailCache
import Thumbnailer

/// Removes thumbnails from the caches, with the key as `Authorization: Bearer KEY`: those of an image with
/// `DELETE /cache?url=…`, or with the path of a file within the served folder; those of a host's images with `?host=…`;
/// those of images whose addresses begin with a text with `?prefix=…`.
struct PurgeRoute: Sendable {
  private typealias Problem = ServerResponse.Problem

  let pipeline: ThumbnailPipeline
  let access: SourceAccess
  /// The required key; nil: nothing can be removed.
  let key: String?

  func response(to request: ServerRequest) async -> ServerResponse {
    guard let key else { return .problem(.notFound) }
    guard request.method == .DELETE else {
      return .problem(
        Problem(
          .methodNotAllowed, "method-not-allowed", "write DELETE /cache?url=…", headers: ["allow": "DELETE"]))
    }
    let given = request.headers.first(name: "authorization")?.split(separator: " ", maxSplits: 1) ?? []
    guard given.count == 2, given[0].lowercased() == "bearer", Token.areEqual(given[1], key) else {
      return .problem(Problem(.forbidden, "refused", "the key is missing or wrong"))
    }
    let items = QueryItems(request.query)
    if let host = items["host"], !host.isEmpty { return await remove(.host(host)) }
    if let prefix = items["prefix"], !prefix.isEmpty { return await remove(.prefix(prefix)) }
    guard let named = items["url"] else {
      return .problem(
        Problem(.badRequest, "invalid-request", "write DELETE /cache?url=…, ?host=… or ?prefix=…, percent-encoded"))
    }
    do throws(ServerResponse.Problem) {
      await pipeline.remove(try access.image(named, request, isSigned: true).image)
      return .noContent
    } catch {
      return .problem(error)
    }
  }

  /// Removes a selection, and responds with the number of images.
  private func remove(_ selection: CacheSelection) async -> ServerResponse {
    do throws(DiskCacheError) {
      return .json(["removed": try await pipeline.remove(selection)])
    } catch {
      return .problem(Problem(.internalServerError, "cache-failed", "the cache cannot be changed now; try again later"))
    }
  }
}
